import Foundation
import Synchronization

/// Watches how long a file gets.
public final class FileWatch: Sendable {
    private let longest = Mutex<Int>(0)
    private let isRunning = Mutex<Bool>(true)

    /// Looks at the file every 5 ms.
    public init(_ path: String) {
        Thread.detachNewThread { [self] in
            while isRunning.withLock({ $0 }) {
                var information = stat()
                if stat(path, &information) == 0 { longest.withLock { $0 = max($0, Int(information.st_size)) } }
                usleep(5_000)
            }
        }
    }

    /// Stops watching.
    ///
    /// - Returns: the greatest length in bytes.
    public func stop() -> Int {
        isRunning.withLock { $0 = false }
        return longest.withLock { $0 }
    }
}
