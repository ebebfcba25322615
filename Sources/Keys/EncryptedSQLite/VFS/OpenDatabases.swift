import Foundation
import Synchronization

/// The number of connections of this process to each database.
///
/// Closing a descriptor drops all locks of the process on that file (POSIX). SQLite has locks on the index of a
/// log. Another descriptor may read the index, but must stay open until the last connection is closed.
final class OpenDatabases: Sendable {
    static let shared = OpenDatabases()

    private struct State {
        var counts: [String: Int] = [:]
        /// Descriptors that are closed with the last connection.
        var waiting: [String: [Foundation.FileHandle]] = [:]
    }

    private let state = Mutex(State())

    func didOpen(_ path: String) {
        state.withLock { $0.counts[path, default: 0] += 1 }
    }

    func didClose(_ path: String) {
        state.withLock { state in
            let count = (state.counts[path] ?? 1) - 1
            state.counts[path] = count > 0 ? count : nil
            guard count <= 0 else { return }
            for file in state.waiting.removeValue(forKey: path) ?? [] { try? file.close() }
        }
    }

    /// Returns the first bytes of the index of a database's log.
    ///
    /// - Returns: `nil` if there is no index.
    func beginningOfIndex(of path: String, count: Int) -> [UInt8]? {
        let descriptor = open(path + "-shm", O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        let file = Foundation.FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        let bytes = try? file.read(upToCount: count)
        state.withLock { state in
            if state.counts[path] == nil { try? file.close() } else { state.waiting[path, default: []].append(file) }
        }
        return bytes.map { [UInt8]($0) }
    }
}
