#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A check of whether a link that a person names may be followed for writing.
///
/// The rule is the one by which Linux protects links in shared folders (`fs.protected_symlinks`), applied on
/// all systems. In a folder in which everyone can create files, a link is followed only if its owner is this
/// user, the administrator or the owner of the folder.
package enum LinkCheck {
    /// Returns whether a link may be followed.
    ///
    /// - Parameter path: The link.
    package static func mayFollow(_ path: String) -> Bool {
        var (link, folder) = (stat(), stat())
        let parent = CheckedFolder.place(of: path).folder
        guard lstat(path, &link) == 0, stat(parent.isEmpty ? "." : parent, &folder) == 0 else { return false }
        if FolderCheck.isTrusted(link.st_uid) || link.st_uid == folder.st_uid { return true }
        return folder.st_mode & 0o002 == 0
    }
}
