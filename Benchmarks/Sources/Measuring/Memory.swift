import Foundation

/// The memory of a process, as Linux tells it (proc(5)).
public enum Memory {
    /// Resident bytes, now or at most since ``forgetPeak(of:)``; 0 where nobody tells.
    public static func resident(peak: Bool, of process: Int32 = getpid()) -> Int {
        let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(peak ? "VmHWM:" : "VmRSS:") } ?? ""
        return (Int(line.filter(\.isNumber)) ?? 0) * 1024
    }

    /// Begins to look for the greatest memory anew.
    public static func forgetPeak(of process: Int32 = getpid()) {
        try? "5".write(toFile: "/proc/\(process)/clear_refs", atomically: false, encoding: .utf8)
    }

    /// How much more memory some work takes than there was before it, in units of 2^20 bytes.
    public static func growth(during work: () async throws -> Void) async rethrows -> Double {
        let before = resident(peak: false)
        forgetPeak()
        try await work()
        return Double(max(0, resident(peak: true) - before)) / 1_048_576
    }
}
