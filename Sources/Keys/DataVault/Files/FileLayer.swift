/// The steps that write secrets to the disk, as separate operations, so that a test can simulate a crash
/// between any two.
///
/// Durability takes two steps: ``sync(_:)`` for content, ``syncDirectory(_:)`` for names.
package protocol FileLayer: Sendable {
    /// Creates a folder of mode 0700, and the folders above it.
    func makeDirectory(_ path: String) throws(DataVaultError)
    /// Returns whether a folder exists. Throws if other users can access it.
    func isDirectoryThere(_ path: String) throws(DataVaultError) -> Bool
    /// Reads a file, at most one byte more than `limit`; returns `nil` if it is missing. Throws if other users
    /// can access it.
    func read(_ path: String, limit: Int) throws(DataVaultError) -> [UInt8]?
    /// Makes a file of mode 0600 that did not exist, with content. While the lock is held,
    /// ``removeUnfinished(_:in:)`` leaves the file alone.
    func create(_ path: String, _ bytes: [UInt8]) throws(DataVaultError) -> FileLock
    /// Makes the content of a file durable.
    func sync(_ path: String) throws(DataVaultError)
    /// Renames a file and atomically replaces an existing target.
    func rename(_ source: String, to target: String) throws(DataVaultError)
    /// Gives a file a second name; fails with `EEXIST` if that name exists.
    func link(_ source: String, as target: String) throws(DataVaultError)
    /// Removes a file and returns whether it existed.
    func remove(_ path: String) throws(DataVaultError) -> Bool
    /// Removes unfinished files that a crash left in a folder, if they are too old to be in progress.
    func removeLeftovers(in directory: String) throws(DataVaultError)
    /// Removes all unfinished files of a name that nobody is making, however young, and says whether there was one.
    func removeUnfinished(_ name: String, in directory: String) throws(DataVaultError) -> Bool
    /// Makes the names in a folder durable.
    func syncDirectory(_ path: String) throws(DataVaultError)
    /// Returns the names in a folder.
    func names(in directory: String) throws(DataVaultError) -> [String]
    /// Takes the lock that a file represents; returns `nil` if it is held, in this process or another.
    func lock(_ path: String) throws(DataVaultError) -> FileLock?
}

extension FileLayer {
    /// The prefix of unfinished files. The dot excludes files that a crash left from every list.
    package static var newPrefix: String { ".new-" }

    /// Whether a file is an unfinished one of a name. File systems may ignore case.
    static func isUnfinished(_ file: String, of name: String) -> Bool {
        guard file.hasPrefix(newPrefix), let end = file.dropFirst(newPrefix.count).firstIndex(of: "-") else {
            return false
        }
        return file[file.index(after: end)...].lowercased() == name.lowercased()
    }

    /// Writes a file whole or not at all, durably, in the place of one of the same name.
    package func replace(_ name: String, in directory: String, with bytes: [UInt8]) throws(DataVaultError) {
        try publish(name, in: directory, bytes) { temporary, path throws(DataVaultError) in
            try rename(temporary, to: path)
        }
    }

    /// Writes a file completely or not at all, durably, unless a file with the same name exists.
    package func add(_ name: String, in directory: String, _ bytes: [UInt8]) throws(DataVaultError) {
        try publish(name, in: directory, bytes) { temporary, path throws(DataVaultError) in
            // A link fails if the name exists, so only one of two processes gets the name; a rename would
            // replace the file.
            try link(temporary, as: path)
            _ = try remove(temporary)
        }
    }

    private func publish(
        _ name: String, in directory: String, _ bytes: [UInt8],
        by naming: (String, String) throws(DataVaultError) -> Void
    ) throws(DataVaultError) {
        if try !isDirectoryThere(directory) { try makeDirectory(directory) }
        let number = String(UInt64.random(in: .min ... .max), radix: 36)
        let temporary = directory + "/" + Self.newPrefix + number + "-" + name
        do throws(DataVaultError) {
            let lock = try create(temporary, bytes)
            defer { withExtendedLifetime(lock) {} }
            try sync(temporary)
            try naming(temporary, directory + "/" + name)
        } catch {
            _ = try? remove(temporary)
            throw error
        }
        try syncDirectory(directory)
    }
}

/// A lock that is released with the last reference to this object, or when the process ends.
package final class FileLock: Sendable {
    private let release: @Sendable () -> Void

    package init(release: @escaping @Sendable () -> Void) {
        self.release = release
    }

    deinit { release() }
}
