import CSQLite

// SQLite's extended result codes are expression macros, which Swift does not import.
let SQLITE_IOERR_READ = SQLITE_IOERR | 1 << 8
let SQLITE_IOERR_SHORT_READ = SQLITE_IOERR | 2 << 8
let SQLITE_IOERR_WRITE = SQLITE_IOERR | 3 << 8
let SQLITE_IOERR_TRUNCATE = SQLITE_IOERR | 6 << 8
/// The code for a page that was altered, moved, or not written with this database's key.
let SQLITE_IOERR_DATA = SQLITE_IOERR | 32 << 8
