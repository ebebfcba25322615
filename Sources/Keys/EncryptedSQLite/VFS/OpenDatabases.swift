import Foundation
import Synchronization

/// How many connections of this process have each database open.
///
/// Who closes a descriptor drops all locks that the process has on that file (POSIX). The index of a log, on which SQLite has
/// locks, may thus be read by another descriptor, but not closed again before the last connection has gone.
final class OpenDatabases: Sendable {
    static let shared = OpenDatabases()

    private struct State {
        var counts: [String: Int] = [:]
        /// Descriptors to be closed with the last connection.
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

    /// The first bytes of a database's index of its log.
    ///
    /// - Returns: nil where there is none.
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
