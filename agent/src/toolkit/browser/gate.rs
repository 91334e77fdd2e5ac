//! The only way from the browser to the network: a SOCKS5 proxy of our own on this machine, which judges every address.
//!
//! The browser sends it names and never looks one up itself, so that the address that is judged is the one that is
//! connected to. Written here, since of RFC 1928 no more than its CONNECT is needed, and the libraries for it look names up.

use crate::toolkit::web::{Guard, Refusal};
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// How long one address may take to answer.
const CONNECT: Duration = Duration::from_secs(10);
/// How many hosts are remembered that were not reached.
const MOST_REFUSALS: usize = 20;

const VERSION: u8 = 5;
const NOT_ALLOWED: u8 = 2;
const UNREACHABLE: u8 = 4;
const UNKNOWN_COMMAND: u8 = 7;

/// What is known at both ends of the gate.
#[derive(Debug, Clone)]
pub(super) struct Gate {
    guard: Guard,
    refused: Arc<Mutex<BTreeMap<String, Refusal>>>,
    closed: Arc<Mutex<Vec<u16>>>,
}

impl Gate {
    pub(super) fn new(guard: Guard) -> Self {
        Self {
            guard,
            refused: Arc::default(),
            closed: Arc::default(),
        }
    }

    pub(super) fn guard(&self) -> &Guard {
        &self.guard
    }

    /// Opens it: serves until it is dropped, on the port that comes with it.
    pub(super) async fn open(&self) -> io::Result<(u16, impl Future<Output = ()> + Send + use<>)> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        self.close(port);
        let gate = self.clone();
        let serve = async move {
            let mut connections = JoinSet::new();
            loop {
                tokio::select! {
                    accepted = listener.accept() => if let Ok((socket, _)) = accepted {
                        let gate = gate.clone();
                        connections.spawn(async move { gate.pass(socket).await });
                    },
                    Some(_) = connections.join_next() => {}
                }
            }
        };
        Ok((port, serve))
    }

    /// Never lets anybody through to this port of this machine, whatever addresses are allowed: the browser's own.
    pub(super) fn close(&self, port: u16) {
        let mut closed = self.closed.lock().unwrap_or_else(PoisonError::into_inner);
        closed.push(port);
    }

    /// What was refused since this was last asked. Of hosts that have no address only `asked` counts: browsers look for
    /// some of their own.
    pub(super) fn refusals(&self, asked: Option<&str>) -> Vec<String> {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        let refused = std::mem::take(&mut *refused);
        let told = refused.into_iter().filter(|(host, refusal)| {
            !matches!(refusal, Refusal::Unknown(..)) || asked == Some(host)
        });
        told.map(|(_, refusal)| refusal.to_string()).collect()
    }

    fn remember(&self, host: String, refusal: Refusal) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.len() < MOST_REFUSALS {
            refused.insert(host, refusal);
        }
    }

    async fn pass(&self, mut browser: TcpStream) -> io::Result<()> {
        let Some((host, port)) = asked(&mut browser).await? else {
            return answer(&mut browser, UNKNOWN_COMMAND).await;
        };
        match self.connect(&host, port).await {
            Ok(Some(mut server)) => {
                answer(&mut browser, 0).await?;
                copy_bidirectional(&mut browser, &mut server).await?;
                Ok(())
            }
            Ok(None) => answer(&mut browser, UNREACHABLE).await,
            Err(refusal) => {
                self.remember(host, refusal);
                answer(&mut browser, NOT_ALLOWED).await
            }
        }
    }

    /// The first address of a host that answers. All of them have been judged before any is tried.
    async fn connect(&self, host: &str, port: u16) -> Result<Option<TcpStream>, Refusal> {
        for address in self.guard.reach(host).await? {
            if self.is_own(address, port) {
                return Err(Refusal::Closed(host.to_owned(), "the browser's own"));
            }
            let connecting = TcpStream::connect((address, port));
            if let Ok(Ok(server)) = timeout(CONNECT, connecting).await {
                return Ok(Some(server));
            }
        }
        Ok(None)
    }

    fn is_own(&self, address: IpAddr, port: u16) -> bool {
        let closed = self.closed.lock().unwrap_or_else(PoisonError::into_inner);
        closed.contains(&port) && {
            let address = address.to_canonical();
            address.is_loopback() || address.is_unspecified()
        }
    }
}

/// The host and the port that a client asks for; none, if it asks for something else.
async fn asked(client: &mut TcpStream) -> io::Result<Option<(String, u16)>> {
    let [version, methods] = bytes(client).await?;
    if version != VERSION {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut ignored = vec![0; methods.into()];
    client.read_exact(&mut ignored).await?;
    client.write_all(&[VERSION, 0]).await?;
    let [_, command, _, kind] = bytes(client).await?;
    let host = match kind {
        1 => Ipv4Addr::from(bytes::<4>(client).await?).to_string(),
        3 => {
            let [length] = bytes(client).await?;
            let mut name = vec![0; length.into()];
            client.read_exact(&mut name).await?;
            String::from_utf8(name).map_err(|_| io::ErrorKind::InvalidData)?
        }
        4 => Ipv6Addr::from(bytes::<16>(client).await?).to_string(),
        _ => return Err(io::ErrorKind::InvalidData.into()),
    };
    let port = u16::from_be_bytes(bytes(client).await?);
    Ok((command == 1).then_some((host, port)))
}

async fn bytes<const N: usize>(client: &mut TcpStream) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    client.read_exact(&mut bytes).await?;
    Ok(bytes)
}

/// Says how it went. The address from which was connected is nobody's business.
async fn answer(client: &mut TcpStream, code: u8) -> io::Result<()> {
    client
        .write_all(&[VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0])
        .await
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use crate::toolkit::Lookup;
    use crate::toolkit::web::SystemLookup;

    struct Names;

    #[async_trait::async_trait]
    impl Lookup for Names {
        async fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>> {
            match host {
                "here.test" => Ok(vec![Ipv4Addr::LOCALHOST.into()]),
                "both.test" => Ok(vec![
                    Ipv4Addr::LOCALHOST.into(),
                    Ipv4Addr::new(10, 0, 0, 1).into(),
                ]),
                _ => Err(io::ErrorKind::NotFound.into()),
            }
        }
    }

    fn gate(lookup: impl Lookup + 'static) -> Gate {
        Gate::new(Guard {
            lookup: Arc::new(lookup),
            allowed: Arc::new([Ipv4Addr::LOCALHOST.into()]),
        })
    }

    /// What the gate says of a host: its code, and the connection.
    async fn ask(gate: u16, command: u8, host: &str, port: u16) -> (u8, TcpStream) {
        let mut client = TcpStream::connect((Ipv4Addr::LOCALHOST, gate))
            .await
            .unwrap();
        let mut said = vec![VERSION, 1, 0, VERSION, command, 0, 3];
        said.push(host.len().try_into().unwrap());
        said.extend(host.as_bytes());
        said.extend(port.to_be_bytes());
        client.write_all(&said).await.unwrap();
        assert_eq!(bytes::<2>(&mut client).await.unwrap(), [VERSION, 0]);
        let answer = bytes::<10>(&mut client).await.unwrap();
        (answer[1], client)
    }

    #[tokio::test]
    async fn what_is_let_through_was_judged_and_nothing_else_is_done() {
        let server = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = server.local_addr().unwrap().port();
        let gate = gate(Names);
        let (way_in, serve) = gate.open().await.unwrap();
        tokio::spawn(serve);
        for host in [
            "10.0.0.1",
            "127.0.0.2",
            "::1",
            "[::1]",
            "::ffff:127.0.0.2",
            "both.test",
            "169.254.169.254",
            "none.test",
        ] {
            assert_eq!(ask(way_in, 1, host, port).await.0, NOT_ALLOWED, "{host}");
            assert_eq!(gate.refusals(Some(host)).len(), 1, "{host}");
        }
        assert_eq!(gate.refusals(None), Vec::<String>::new());
        // Not even where it may: to bind a port, or to send datagrams.
        for command in [0, 2, 3, 4] {
            assert_eq!(
                ask(way_in, command, "here.test", port).await.0,
                UNKNOWN_COMMAND
            );
        }
        for host in ["here.test", "127.0.0.1", "::ffff:127.0.0.1"] {
            let (code, mut client) = ask(way_in, 1, host, port).await;
            assert_eq!(code, 0, "{host}");
            let (mut socket, _) = server.accept().await.unwrap();
            client.write_all(b"hi").await.unwrap();
            assert_eq!(bytes::<2>(&mut socket).await.unwrap(), *b"hi");
        }
        // Nor its own door, and what else is the browser's.
        gate.close(port);
        for closed in [way_in, port] {
            assert_eq!(ask(way_in, 1, "here.test", closed).await.0, NOT_ALLOWED);
        }
        assert_eq!(
            gate.refusals(None),
            [
                "`here.test` is not fetched: its address is the browser's own, and only the public internet is reached"
            ]
        );
    }

    #[tokio::test]
    async fn this_machine_by_its_name_is_judged_by_all_its_addresses() {
        let gate = Gate::new(Guard {
            lookup: Arc::new(SystemLookup),
            allowed: Arc::new([]),
        });
        let (way_in, serve) = gate.open().await.unwrap();
        tokio::spawn(serve);
        assert_eq!(ask(way_in, 1, "localhost", way_in).await.0, NOT_ALLOWED);
    }
}
