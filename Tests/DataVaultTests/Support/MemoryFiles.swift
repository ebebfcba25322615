import Foundation

@testable import DataVault

/// A simulated disk that loses unsynced changes in a crash at a selected step.
///
/// `@unchecked Sendable` is sound: `state` is accessed only while `mutex` is held.
final class MemoryFiles: FileLayer, @unchecked Sendable {
    /// A file. Its content is not changed after it has a second name.
    private struct File {
        var content: [UInt8]
        var durable: [UInt8]?
    }

    private struct State {
        /// The names in each folder, as the running system and as the disk have them.
        var names: [String: [String: File]] = [:]
        var durable: [String: [String: File]] = [:]
        var steps = 0
        var end: Int?
        var tears = false
        var isOver: Bool { end.map { steps > $0 } ?? false }
    }

    private let mutex = NSLock()
    private var state = State()

    init() {}
    private init(_ names: [String: [String: File]]) {
        state.durable = names
        state.names = names
    }

    private func locked<Result>(_ body: (inout State) -> Result) -> Result {
        mutex.withLock { body(&state) }
    }

    /// Simulates a crash at the step with a number, counted from now. With `tears`, a file that is being
    /// created at that step is left half written.
    func endWorld(after steps: Int, tears: Bool) {
        locked {
            $0.end = $0.steps + steps
            $0.tears = tears
        }
    }

    /// Returns the disk after a restart.
    ///
    /// - Parameter kept: Returns whether the unsynced changes of a folder reached the disk. Those of other
    ///   folders are lost.
    func restarted(keeping kept: (String) -> Bool) -> MemoryFiles {
        locked { state in
            var disk: [String: [String: File]] = [:]
            for directory in state.names.keys {
                let isKept = kept(directory)
                for (name, file) in (isKept ? state.names : state.durable)[directory] ?? [:] {
                    let content = isKept ? file.content : file.durable ?? []
                    disk[directory, default: [:]][name] = File(content: content, durable: content)
                }
                if disk[directory] == nil { disk[directory] = [:] }
            }
            return MemoryFiles(disk)
        }
    }

    private static let over = DataVaultError.system(operation: "crash", path: "", code: 0)

    private func step<Result>(_ body: (inout State) throws(DataVaultError) -> Result) throws(DataVaultError) -> Result {
        mutex.lock()
        defer { mutex.unlock() }
        state.steps += 1
        guard !state.isOver else { throw Self.over }
        return try body(&state)
    }

    private static func split(_ path: String) -> (directory: String, name: String) {
        let end = path.lastIndex(of: "/") ?? path.startIndex
        return (String(path[..<end]), String(path[path.index(after: end)...]))
    }

    func makeDirectory(_ path: String) throws(DataVaultError) { try step { $0.names[path] = $0.names[path] ?? [:] } }
    func isDirectoryThere(_ path: String) throws(DataVaultError) -> Bool {
        locked { $0.names[path] != nil }
    }
    func read(_ path: String, limit: Int) throws(DataVaultError) -> [UInt8]? {
        let (directory, name) = Self.split(path)
        return locked { $0.names[directory]?[name]?.content }
    }
    func create(_ path: String, _ bytes: [UInt8]) throws(DataVaultError) -> FileLock {
        let (directory, name) = Self.split(path)
        locked { state in
            guard state.tears, state.steps + 1 == (state.end ?? -1) + 1 else { return }
            state.names[directory, default: [:]][name] = File(content: Array(bytes.prefix(bytes.count / 2)))
        }
        try step { $0.names[directory, default: [:]][name] = File(content: bytes) }
        return FileLock {}
    }
    func sync(_ path: String) throws(DataVaultError) {
        let (directory, name) = Self.split(path)
        try step { state in
            guard var file = state.names[directory]?[name] else { return }
            file.durable = file.content
            state.names[directory]?[name] = file
        }
    }
    func rename(_ source: String, to target: String) throws(DataVaultError) {
        try step { state in
            let (from, to) = (Self.split(source), Self.split(target))
            let file = state.names[from.directory]?.removeValue(forKey: from.name)
            state.names[to.directory]?[to.name] = file
        }
    }
    func link(_ source: String, as target: String) throws(DataVaultError) {
        try step { (state) throws(DataVaultError) in
            let (from, to) = (Self.split(source), Self.split(target))
            guard state.names[to.directory]?[to.name] == nil else {
                throw .system(operation: "keeping", path: target, code: 17)
            }
            let file = state.names[from.directory]?[from.name]
            state.names[to.directory]?[to.name] = file
        }
    }
    func remove(_ path: String) throws(DataVaultError) -> Bool {
        try step { state in
            let (directory, name) = Self.split(path)
            return state.names[directory]?.removeValue(forKey: name) != nil
        }
    }
    /// Nothing here is old.
    func removeLeftovers(in directory: String) throws(DataVaultError) { try step { _ in } }
    func removeUnfinished(_ name: String, in directory: String) throws(DataVaultError) -> Bool {
        try step { state in
            let unfinished = (state.names[directory] ?? [:]).keys.filter { Self.isUnfinished($0, of: name) }
            for file in unfinished { state.names[directory]?[file] = nil }
            return !unfinished.isEmpty
        }
    }
    func syncDirectory(_ path: String) throws(DataVaultError) { try step { $0.durable[path] = $0.names[path] } }
    func names(in directory: String) throws(DataVaultError) -> [String] {
        locked { Array(($0.names[directory] ?? [:]).keys) }
    }
    func lock(_ path: String) throws(DataVaultError) -> FileLock? { FileLock {} }
}
