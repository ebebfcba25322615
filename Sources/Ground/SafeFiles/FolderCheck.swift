#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A check of whether other users can replace files in a folder, by its owner and permissions. Access control
/// lists are ignored.
enum FolderCheck {
    /// Returns the reason if a user other than this user and the administrator can replace files; otherwise
    /// `nil`.
    static func problem(_ status: stat) -> SafeFileError.Reason? {
        guard isTrusted(status.st_uid) else { return .foreignFolder(owner: status.st_uid) }
        let mode = UInt32(status.st_mode) & 0o7777
        // With the sticky bit, only the owner of a file can replace it.
        guard mode & 0o1000 == 0 else { return nil }
        if mode & 0o002 != 0 { return .openFolder(mode: mode) }
        if mode & 0o020 != 0, !isPrivateGroup(status.st_gid, of: status.st_uid) { return .openFolder(mode: mode) }
        return nil
    }

    /// Returns whether a user is this user or the administrator.
    static func isTrusted(_ owner: uid_t) -> Bool { owner == geteuid() || owner == 0 }

    /// Returns whether a group is the private group of a user: it is the user's main group, has the user's
    /// name, and has no other members. Systems with private groups give the group write access to the user's
    /// new files.
    private static func isPrivateGroup(_ group: gid_t, of user: uid_t) -> Bool {
        var space = [CChar](repeating: 0, count: 16_384)
        var (entry, found) = (passwd(), UnsafeMutablePointer<passwd>?.none)
        guard getpwuid_r(user, &entry, &space, space.count, &found) == 0, found != nil, entry.pw_gid == group,
            let name = entry.pw_name.map({ String(cString: $0) })
        else { return false }
        var groupSpace = [CChar](repeating: 0, count: 16_384)
        var (groupEntry, foundGroup) = (SystemGroup(), UnsafeMutablePointer<SystemGroup>?.none)
        guard getgrgid_r(group, &groupEntry, &groupSpace, groupSpace.count, &foundGroup) == 0, foundGroup != nil,
            groupEntry.gr_name.map({ String(cString: $0) }) == name
        else { return false }
        var member = groupEntry.gr_mem
        while let text = member?.pointee {
            if String(cString: text) != name { return false }
            member = member?.advanced(by: 1)
        }
        return true
    }
}

#if canImport(Darwin)
    private typealias SystemGroup = Darwin.group
#elseif canImport(Musl)
    private typealias SystemGroup = Musl.group
#else
    private typealias SystemGroup = Glibc.group
#endif
