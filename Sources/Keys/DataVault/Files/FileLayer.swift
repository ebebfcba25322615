/// The steps by which secrets reach the disk, one by one, so that a test can end the world between any two.
///
/// Everything is durable only in two steps: content by ``sync(_:)``, names by ``syncDirectory(_:)``.
package protocol FileLayer: Sendable {
    /// Makes a folder of mode 0700, with the folders above it.
    func makeDirectory(_ path: String) throws(DataVaultError)
    /// Whether there is a folder; one that lets others in is refused.
    func isDirectoryThere(_ path: String) throws(DataVaultError) -> Bool
    /// Reads a file up to one byte more than `limit`; nil when there is none. One that lets others in is refused.
    func read(_ path: String, limit: Int) throws(DataVaultError) -> [UInt8]?
    /// Makes a file of mode 0600 that did not exist, with content.
    func create(_ path: String, _ bytes: [UInt8]) throws(DataVaultError)
    /// Makes the content of a file durable.
    func sync(_ path: String) throws(DataVaultError)
    /// Gives a file the name of another, which it replaces at once.
    func rename(_ source: String, to target: String) throws(DataVaultError)
    /// Gives a file a second name; fails with `EEXIST` when there is one of that name.
    func link(_ source: String, as target: String) throws(DataVaultError)
    /// Removes a file, and says whether there was one.
    func remove(_ path: String) throws(DataVaultError) -> Bool
    /// Removes what crashes have left half made in a folder, long enough ago that nobody is still making it.
    func removeLeftovers(in directory: String) throws(DataVaultError)
    /// Makes the names in a folder durable.
    func syncDirectory(_ path: String) throws(DataVaultError)
    /// The names in a folder.
    func names(in directory: String) throws(DataVaultError) -> [String]
    /// Takes the lock that a file stands for; nil while somebody else has it, in this process or another.
    func lock(_ path: String) throws(DataVaultError) -> FileLock?
}

extension FileLayer {
    /// How the names of files begin that are being made. The dot keeps what a crash leaves behind out of every
    /// list.
    package static var newPrefix: String { ".new-" }

    /// Writes a file whole or not at all, durably, in the place of one of the same name.
    package func replace(_ name: String, in directory: String, with bytes: [UInt8]) throws(DataVaultError) {
        try publish(name, in: directory, bytes) { temporary, path throws(DataVaultError) in
            try rename(temporary, to: path)
        }
    }

    /// Writes a file whole or not at all, durably, unless there is one of the same name.
    package func add(_ name: String, in directory: String, _ bytes: [UInt8]) throws(DataVaultError) {
        try publish(name, in: directory, bytes) { temporary, path throws(DataVaultError) in
            // A link fails where a rename would replace: of two processes, one gets the name.
            try link(temporary, as: path)
            _ = try remove(temporary)
        }
    }

    private func publish(
        _ name: String, in directory: String, _ bytes: [UInt8],
        by naming: (String, String) throws(DataVaultError) -> Void
    ) throws(DataVaultError) {
        if try !isDirectoryThere(directory) { try makeDirectory(directory) }
        let temporary = directory + "/" + Self.newPrefix + String(UInt64.random(in: .min ... .max), radix: 36)
        do throws(DataVaultError) {
            try create(temporary, bytes)
            try sync(temporary)
            try naming(temporary, directory + "/" + name)
        } catch {
            _ = try? remove(temporary)
            throw error
        }
        try syncDirectory(directory)
    }
}

/// A lock that is given back when nobody holds this object any more, or when the process ends.
package final class FileLock: Sendable {
    private let release: @Sendable () -> Void

    package init(release: @escaping @Sendable () -> Void) {
        self.release = release
    }

    deinit { release() }
}
