//! What a child process may reach. On Linux the kernel holds it to that, from its first instruction on and with all that
//! comes of it; elsewhere nothing does.

use std::path::PathBuf;

/// What a process and its children may reach.
#[derive(Debug, Clone, Default)]
pub(crate) struct Confinement {
    /// Files and folders that may be read and run.
    pub(crate) reads: Vec<PathBuf>,
    /// Folders whose files may also be changed.
    pub(crate) writes: Vec<PathBuf>,
    /// Whether it may open sockets of any kind.
    pub(crate) network: bool,
    /// How much it may have written in its memory, and how long a file it writes may be, in bytes, each process by itself.
    pub(crate) memory: u64,
    pub(crate) file: u64,
}

#[cfg(not(all(target_os = "linux", feature = "toolkit-code")))]
mod nowhere {
    use super::Confinement;
    use rustix::process::Pid;
    use std::io;

    pub(in super::super) fn under<T>(
        _: &Confinement,
        _: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        unheld()
    }

    pub(in super::super) fn limit(_: &Confinement, _: Pid) -> io::Result<()> {
        unheld()
    }

    fn unheld<T>() -> io::Result<T> {
        Err(io::Error::other("this system does not confine programs"))
    }
}
#[cfg(not(all(target_os = "linux", feature = "toolkit-code")))]
pub(super) use nowhere::{limit, under};

#[cfg(all(target_os = "linux", feature = "toolkit-code"))]
pub(super) use linux::{limit, under};

#[cfg(all(target_os = "linux", feature = "toolkit-code"))]
mod linux {
    use super::Confinement;
    use landlock::{
        ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr,
        Scope, path_beneath_rules,
    };
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};
    use std::io;
    use std::path::Path;

    /// What every program needs: itself, what it is linked to, and a few devices.
    const SYSTEM: &[&str] = &[
        "/bin",
        "/sbin",
        "/usr",
        "/lib",
        "/lib32",
        "/lib64",
        "/opt",
        "/nix/store",
        "/etc/alternatives",
        "/etc/ld.so.cache",
        "/etc/ld.so.conf",
        "/etc/ld.so.conf.d",
        "/etc/localtime",
        "/etc/mime.types",
        "/etc/ssl/certs",
        "/etc/ssl/openssl.cnf",
        "/dev/full",
        "/dev/random",
        "/dev/urandom",
        "/dev/zero",
    ];

    /// The number by which x86-64 tells calls of its 32-bit pointers.
    #[cfg(target_arch = "x86_64")]
    const X32: i64 = 0x4000_0000;

    /// Calls `start` on a thread of its own that is held to `confinement`, as is whatever it starts.
    ///
    /// A thread that was confined stays so; that is why it is not the caller's.
    pub(in super::super) fn under<T: Send>(
        confinement: &Confinement,
        start: impl FnOnce() -> io::Result<T> + Send,
    ) -> io::Result<T> {
        let runtime = tokio::runtime::Handle::try_current().ok();
        std::thread::scope(|scope| {
            let confined = scope.spawn(|| {
                let _runtime = runtime.as_ref().map(tokio::runtime::Handle::enter);
                confinement.hold_thread()?;
                start()
            });
            let gone = |_| Err(io::Error::other("the thread that starts programs panicked"));
            confined.join().unwrap_or_else(gone)
        })
    }

    /// Puts the limits on a process that has not begun.
    pub(in super::super) fn limit(confinement: &Confinement, leader: Pid) -> io::Result<()> {
        for (resource, most) in [
            (Resource::Data, confinement.memory),
            (Resource::Fsize, confinement.file),
            (Resource::Core, 0),
        ] {
            let both = Rlimit {
                current: Some(most),
                maximum: Some(most),
            };
            prlimit(Some(leader), resource, both)?;
        }
        Ok(())
    }

    impl Confinement {
        /// Holds this thread to it, for good. Fails on a system that cannot.
        fn hold_thread(&self) -> io::Result<()> {
            self.hold_files().map_err(|error| {
                io::Error::other(format!("this system does not confine programs: {error}"))
            })?;
            if !self.network {
                let filter = no_sockets().map_err(io::Error::other)?;
                apply_filter(&filter).map_err(io::Error::other)?;
            }
            Ok(())
        }

        fn hold_files(&self) -> Result<(), landlock::RulesetError> {
            // What the first version has is demanded; what later ones add is had where it is.
            let (first, newest) = (ABI::V1, ABI::V6);
            let device = AccessFs::MakeBlock | AccessFs::MakeChar;
            let system = SYSTEM.iter().map(Path::new);
            let reads = system.chain(self.reads.iter().map(|path| &**path));
            Ruleset::default()
                .set_compatibility(CompatLevel::HardRequirement)
                .handle_access(AccessFs::from_all(first))?
                .set_compatibility(CompatLevel::BestEffort)
                .handle_access(AccessFs::from_all(newest))?
                .scope(Scope::from_all(newest))?
                .create()?
                .add_rules(path_beneath_rules(reads, AccessFs::from_read(newest)))?
                .add_rules(path_beneath_rules(
                    ["/dev/null"],
                    AccessFs::ReadFile | AccessFs::WriteFile,
                ))?
                .add_rules(path_beneath_rules(
                    &self.writes,
                    AccessFs::from_all(newest) & !device,
                ))?
                .restrict_self()?;
            Ok(())
        }
    }

    /// Refuses every new socket, and the one road around that.
    fn no_sockets() -> Result<BpfProgram, seccompiler::BackendError> {
        let calls = [
            libc::SYS_socket,
            libc::SYS_io_uring_setup,
            #[cfg(target_arch = "x86_64")]
            (X32 | libc::SYS_socket),
            #[cfg(target_arch = "x86_64")]
            (X32 | libc::SYS_io_uring_setup),
        ];
        SeccompFilter::new(
            calls.map(|call| (call, Vec::new())).into(),
            SeccompAction::Allow,
            SeccompAction::Errno(libc::EACCES.unsigned_abs()),
            std::env::consts::ARCH.try_into()?,
        )?
        .try_into()
    }
}
