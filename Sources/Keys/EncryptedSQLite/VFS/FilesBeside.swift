import CSQLite

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The files that SQLite opens, cuts and deletes beside a database. It follows no symbolic link to one of them, but it would
/// change a file that has another name elsewhere: a directory that comes from somebody else may hold such a hard link.
enum FilesBeside {
    /// `SQLITE_CANTOPEN_SYMLINK`.
    static let refusal = SQLITE_CANTOPEN | 6 << 8

    private static let suffixes = ["-wal", "-shm", "-journal"]

    /// Whether each of them is missing, or a regular file with one name.
    static func areOwn(of path: String) -> Bool {
        suffixes.allSatisfy { suffix in
            var status = stat()
            guard lstat(path + suffix, &status) == 0 else { return true }
            return status.st_mode & S_IFMT == S_IFREG && status.st_nlink <= 1
        }
    }
}
