import CSQLite

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The files that SQLite opens, truncates and deletes beside a database. SQLite follows no symbolic link to
/// them. It would change a hard-linked file, though, and a directory from an untrusted source may contain such
/// a link.
enum FilesBeside {
    /// `SQLITE_CANTOPEN_SYMLINK`.
    static let refusal = SQLITE_CANTOPEN | 6 << 8

    private static let suffixes = ["-wal", "-shm", "-journal"]

    /// Returns whether each of these files is missing, or is a regular file with a single name.
    static func areOwn(of path: String) -> Bool {
        suffixes.allSatisfy { suffix in
            var status = stat()
            guard lstat(path + suffix, &status) == 0 else { return true }
            return status.st_mode & S_IFMT == S_IFREG && status.st_nlink <= 1
        }
    }
}
