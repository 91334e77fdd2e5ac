use super::disk::{Lock, blocking, path_of};
use crate::message::Message;
use crate::run::{Change, SessionError, SessionLog, SessionStore, Stored};
use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Conversations in a SQLite database: a row a message, in a table that other programs can read.
///
/// Each save is a transaction that is on the disk when it has returned. Beside the database stands a folder of the same
/// name with `.locks` behind it: a lock of the operating system in it keeps a conversation that is open from others, in
/// this process and in others, and ends with its process. Any number of conversations may be written at once; they wait for
/// one another only while a change is written. The database must be on a disk of this machine.
///
/// ```
/// use agent::{Agent, Session, SqliteSessions};
///
/// # async fn shown(agent: Agent) -> Result<(), agent::RunError> {
/// let store = SqliteSessions::new("conversations.sqlite");
/// let session = Session::new(store.clone(), "customer-17");
/// agent.run("What do I need for Beijing?").session(&session).await?;
/// # Ok(())
/// # }
/// ```
///
/// Its work is done where it may block, so it needs a tokio runtime. A save whose run is dropped is finished behind it,
/// and the conversation is busy until then.
#[derive(Clone)]
pub struct SqliteSessions {
    shared: Arc<Database>,
}

struct Database {
    path: PathBuf,
    locks: PathBuf,
    /// Opened when it is first needed.
    connection: Mutex<Option<Connection>>,
}

/// The form of the tables, kept in the database as its `user_version`. A change that older code cannot read gets the next
/// number.
const FORMAT: i64 = 1;

const TABLES: &str = "
    CREATE TABLE sessions (
        id TEXT NOT NULL PRIMARY KEY,
        head TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE messages (
        session TEXT NOT NULL REFERENCES sessions (id),
        position INTEGER NOT NULL,
        message TEXT NOT NULL,
        PRIMARY KEY (session, position)
    ) WITHOUT ROWID;
    PRAGMA user_version = 1;
";

/// How long one process waits while others write.
const PATIENCE: Duration = Duration::from_secs(30);

impl SqliteSessions {
    /// Conversations in the database of this file, which is made when the first of them is opened.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let mut locks = path.clone().into_os_string();
        locks.push(".locks");
        Self {
            shared: Arc::new(Database {
                path,
                locks: locks.into(),
                connection: Mutex::new(None),
            }),
        }
    }
}

impl fmt::Debug for SqliteSessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteSessions")
            .field("path", &self.shared.path)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl SessionStore for SqliteSessions {
    async fn open(&self, id: &str) -> Result<Box<dyn SessionLog>, SessionError> {
        let (database, id) = (Arc::clone(&self.shared), id.to_owned());
        blocking(move || {
            let lock = Lock::take(&path_of(&database.locks, &id, "lock"), &id)?;
            let log = OpenLog {
                database,
                id,
                _lock: lock,
            };
            Ok(Box::new(SqliteLog(Arc::new(log))) as Box<dyn SessionLog>)
        })
        .await
    }
}

struct SqliteLog(Arc<OpenLog>);

struct OpenLog {
    database: Arc<Database>,
    id: String,
    _lock: Lock,
}

#[async_trait]
impl SessionLog for SqliteLog {
    async fn load(&mut self) -> Result<Option<Stored>, SessionError> {
        let log = Arc::clone(&self.0);
        blocking(move || log.database.with(|connection| load(connection, &log.id))).await
    }

    async fn save(&mut self, change: Change<'_>) -> Result<(), SessionError> {
        let log = Arc::clone(&self.0);
        let add = change.add.iter().map(serde_json::to_string);
        let add: Vec<String> = add.collect::<Result<_, _>>().map_err(SessionError::store)?;
        let (keep, head) = (change.keep, change.head.to_owned());
        blocking(move || {
            log.database.with(|connection| {
                save(connection, &log.id, keep, &add, &head).map_err(SessionError::store)
            })
        })
        .await
    }
}

impl Database {
    fn with<T>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, SessionError>,
    ) -> Result<T, SessionError> {
        let mut connection = self
            .connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if connection.is_none() {
            *connection = Some(connect(&self.path)?);
        }
        match &mut *connection {
            Some(connection) => work(connection),
            None => Err(SessionError::store("the database is not open")),
        }
    }
}

fn connect(path: &Path) -> Result<Connection, SessionError> {
    let failed =
        |error: rusqlite::Error| SessionError::store(format!("{}: {error}", path.display()));
    let mut connection = Connection::open(path).map_err(failed)?;
    connection.busy_timeout(PATIENCE).map_err(failed)?;
    let format = prepare(&mut connection).map_err(failed)?;
    if format != FORMAT {
        return Err(SessionError::store(format!(
            "{}: it was written in format {format}, and this program reads format {FORMAT}",
            path.display()
        )));
    }
    Ok(connection)
}

/// Readies a database, and returns the form of its tables.
fn prepare(connection: &mut Connection) -> rusqlite::Result<i64> {
    connection.pragma_update(None, "journal_mode", "wal")?;
    // With less, a log in WAL mode may lose its last transactions when the power fails.
    connection.pragma_update(None, "synchronous", "full")?;
    let format = |connection: &Connection| {
        connection.pragma_query_value(None, "user_version", |row| row.get(0))
    };
    if format(connection)? == 0 {
        // Of several processes that come at once, one makes the tables.
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if format(&transaction)? == 0 {
            transaction.execute_batch(TABLES)?;
        }
        transaction.commit()?;
    }
    format(connection)
}

fn load(connection: &mut Connection, id: &str) -> Result<Option<Stored>, SessionError> {
    let head: Option<String> = connection
        .prepare("SELECT head FROM sessions WHERE id = ?1")
        .and_then(|mut heads| heads.query_row([id], |row| row.get(0)).optional())
        .map_err(SessionError::store)?;
    let Some(head) = head else {
        return Ok(None);
    };
    let mut rows = connection
        .prepare("SELECT message FROM messages WHERE session = ?1 ORDER BY position")
        .map_err(SessionError::store)?;
    let messages = rows
        .query_map([id], |row| row.get::<_, String>(0))
        .map_err(SessionError::store)?;
    let messages: Result<Vec<Message>, SessionError> = messages
        .map(|message| {
            let message = message.map_err(SessionError::store)?;
            serde_json::from_str(&message).map_err(|error| SessionError::Unreadable {
                id: id.to_owned(),
                why: error.to_string(),
            })
        })
        .collect();
    Ok(Some(Stored::new(messages?, head)))
}

fn save(
    connection: &mut Connection,
    id: &str,
    keep: usize,
    add: &[String],
    head: &str,
) -> rusqlite::Result<()> {
    let position = |at: usize| i64::try_from(at).unwrap_or(i64::MAX);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction
        .prepare(
            "INSERT INTO sessions (id, head) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET head = ?2",
        )?
        .execute(params![id, head])?;
    transaction
        .prepare("DELETE FROM messages WHERE session = ?1 AND position >= ?2")?
        .execute(params![id, position(keep)])?;
    let mut insert = transaction
        .prepare("INSERT INTO messages (session, position, message) VALUES (?1, ?2, ?3)")?;
    for (at, message) in add.iter().enumerate() {
        insert.execute(params![id, position(keep + at), message])?;
    }
    drop(insert);
    transaction.commit()
}
