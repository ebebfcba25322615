import Foundation
import Synchronization

/// The seconds of the processor that this process has used.
func processorTime() -> Double { seconds(CLOCK_PROCESS_CPUTIME_ID) }

func seconds(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

func verdict(_ figure: Double, atMost limit: Double) -> String {
    figure <= limit ? "holds" : String(format: "missed by %.2f times", figure / limit)
}

/// The memory of this process, as Linux keeps it.
enum Memory {
    /// In bytes, now or at most since ``forgetPeak()``.
    static func resident(peak: Bool) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(peak ? "VmHWM" : "VmRSS") } ?? ""
        return (Int(line.filter(\.isNumber)) ?? 0) * 1024
    }

    static func forgetPeak() { try? "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8) }
}

/// Watches how long a file gets.
final class FileWatch: Sendable {
    private let longest = Mutex<Int>(0)
    private let isRunning = Mutex<Bool>(true)

    init(_ path: String) {
        Thread.detachNewThread { [self] in
            while isRunning.withLock({ $0 }) {
                var information = stat()
                if stat(path, &information) == 0 { longest.withLock { $0 = max($0, Int(information.st_size)) } }
                usleep(5_000)
            }
        }
    }

    func stop() -> Int {
        isRunning.withLock { $0 = false }
        return longest.withLock { $0 }
    }
}
