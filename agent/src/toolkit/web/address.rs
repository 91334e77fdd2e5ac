//! Which addresses a model may reach: those of the public internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Why an address is not reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closed {
    /// Where clouds tell a machine its keys. Never, whatever a host allows.
    Metadata,
    /// No address of the public internet, for this reason.
    NotPublic(&'static str),
}

impl Closed {
    pub(super) fn why(self) -> &'static str {
        match self {
            Self::Metadata => "where a cloud keeps its machines' keys",
            Self::NotPublic(why) => why,
        }
    }
}

/// Services for the machines of a cloud, at addresses that need not look private.
const METADATA_V4: &[Ipv4Addr] = &[
    Ipv4Addr::new(169, 254, 169, 254),
    Ipv4Addr::new(169, 254, 170, 2),
    Ipv4Addr::new(169, 254, 170, 23),
    // Alibaba, Azure, Oracle.
    Ipv4Addr::new(100, 100, 100, 200),
    Ipv4Addr::new(168, 63, 129, 16),
    Ipv4Addr::new(192, 0, 0, 192),
];

const METADATA_V6: &[Ipv6Addr] = &[
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23),
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
];

/// The blocks of IANA's registry of special addresses that are not for everybody, and what else is no host.
const CLOSED_V4: &[(Ipv4Addr, u32, &str)] = &[
    (Ipv4Addr::UNSPECIFIED, 8, "of this machine"),
    (Ipv4Addr::new(10, 0, 0, 0), 8, "private"),
    (
        Ipv4Addr::new(100, 64, 0, 0),
        10,
        "of a provider's own network",
    ),
    (Ipv4Addr::new(127, 0, 0, 0), 8, "of this machine"),
    (Ipv4Addr::new(169, 254, 0, 0), 16, "of this link"),
    (Ipv4Addr::new(172, 16, 0, 0), 12, "private"),
    (Ipv4Addr::new(192, 0, 0, 0), 24, "reserved"),
    (Ipv4Addr::new(192, 0, 2, 0), 24, "for documentation"),
    (Ipv4Addr::new(192, 31, 196, 0), 24, "reserved"),
    (Ipv4Addr::new(192, 52, 193, 0), 24, "reserved"),
    (
        Ipv4Addr::new(192, 88, 99, 0),
        24,
        "of relays into another network",
    ),
    (Ipv4Addr::new(192, 168, 0, 0), 16, "private"),
    (Ipv4Addr::new(192, 175, 48, 0), 24, "reserved"),
    (Ipv4Addr::new(198, 18, 0, 0), 15, "for measurements"),
    (Ipv4Addr::new(198, 51, 100, 0), 24, "for documentation"),
    (Ipv4Addr::new(203, 0, 113, 0), 24, "for documentation"),
    (Ipv4Addr::new(224, 0, 0, 0), 4, "of a group"),
    (Ipv4Addr::new(240, 0, 0, 0), 4, "reserved"),
];

/// What is closed inside of the one block that is for everybody, `2000::/3`.
const CLOSED_V6: &[(Ipv6Addr, u32, &str)] = &[
    // Teredo, benchmarking, ORCHID and others: none of them is a web server.
    (
        Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0),
        23,
        "reserved or of a tunnel",
    ),
    (
        Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0),
        32,
        "for documentation",
    ),
    (
        Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0),
        16,
        "of a tunnel",
    ),
    (
        Ipv6Addr::new(0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0),
        48,
        "reserved",
    ),
    (Ipv6Addr::new(0x3ffe, 0, 0, 0, 0, 0, 0, 0), 16, "reserved"),
    (
        Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0),
        20,
        "for documentation",
    ),
];

/// Whether an address may be reached. Those that the host allows may, unless a cloud keeps keys there.
pub(super) fn judge(address: IpAddr, allowed: &[IpAddr]) -> Result<(), Closed> {
    // `::ffff:1.2.3.4` is 1.2.3.4 to whoever connects.
    let address = address.to_canonical();
    match of(address) {
        Err(Closed::NotPublic(_)) if allowed.contains(&address) => Ok(()),
        said => said,
    }
}

fn of(address: IpAddr) -> Result<(), Closed> {
    match address {
        IpAddr::V4(address) => of_v4(address),
        IpAddr::V6(address) => of_v6(address),
    }
}

fn of_v4(address: Ipv4Addr) -> Result<(), Closed> {
    if METADATA_V4.contains(&address) {
        return Err(Closed::Metadata);
    }
    let within =
        |block: &Ipv4Addr, bits: u32| (address.to_bits() ^ block.to_bits()).leading_zeros() >= bits;
    match CLOSED_V4
        .iter()
        .find(|(block, bits, _)| within(block, *bits))
    {
        Some((_, _, why)) => Err(Closed::NotPublic(why)),
        None => Ok(()),
    }
}

fn of_v6(address: Ipv6Addr) -> Result<(), Closed> {
    if METADATA_V6.contains(&address) {
        return Err(Closed::Metadata);
    }
    let within =
        |block: &Ipv6Addr, bits: u32| (address.to_bits() ^ block.to_bits()).leading_zeros() >= bits;
    let segments = address.segments();
    let embedded = |at: usize| match segments.get(at..at + 2) {
        Some(&[high, low]) => Ipv4Addr::from_bits((u32::from(high) << 16) | u32::from(low)),
        _ => Ipv4Addr::UNSPECIFIED,
    };
    // The translator of a network that has only IPv6 (RFC 6052): as public as what it leads to. `64:ff9b:1::/48` is a
    // network's own, and closed with everything else outside of `2000::/3`.
    if within(&Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96) {
        return of_v4(embedded(6));
    }
    // 6to4 and Teredo carry an IPv4 address of which the reason is more telling, and so is metadata.
    if segments.first() == Some(&0x2002) && of_v4(embedded(1)) == Err(Closed::Metadata) {
        return Err(Closed::Metadata);
    }
    if !within(&Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3) {
        return Err(Closed::NotPublic(
            if address.is_loopback() || address.is_unspecified() {
                "of this machine"
            } else if address.is_multicast() {
                "of a group"
            } else {
                "private, of this link or reserved"
            },
        ));
    }
    // ISATAP (RFC 5214) hides an IPv4 address behind any prefix.
    if let [.., 0x0000 | 0x0200, 0x5efe, _, _] = segments {
        of_v4(embedded(6))?;
    }
    match CLOSED_V6
        .iter()
        .find(|(block, bits, _)| within(block, *bits))
    {
        Some((_, _, why)) => Err(Closed::NotPublic(why)),
        None => Ok(()),
    }
}
