import Foundation

#if canImport(Darwin)
    import Darwin
#endif

/// The resources that a process and its files use at one moment.
struct Measurement {
    /// The resident memory of the process in bytes; 0 if the system does not report it.
    var memory: Int
    /// The number of open files, sockets and pipes; 0 if the system does not report it.
    var descriptors: Int
    /// The size of the largest write-ahead log of a store in bytes.
    var log: Int
    /// The total size of the stores' databases in bytes. It is shown but not judged, because former keys of
    /// rows are kept permanently.
    var database: Int

    /// Measures this process and the stores in some directories.
    init(storesIn directories: [String]) {
        // The second number of statm is the number of resident pages.
        let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
        memory = (pages.flatMap { $0.count > 1 ? Int($0[1]) : nil } ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
        descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.count ?? 0
        log = directories.map { Self.size($0 + "/store.db-wal") }.max() ?? 0
        database = directories.map { Self.size($0 + "/store.db") }.reduce(0, +)
    }

    private static func size(_ path: String) -> Int {
        ((try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int) ?? 0
    }

    /// A one-line summary for people.
    var text: String {
        "memory \(memory >> 20) MB, descriptors \(descriptors), log \(log >> 10) KB, database \(database >> 10) KB"
    }
}

/// A check that resource use does not grow, compared with the use after warm-up.
///
/// The limits do not depend on the number of rounds: an hour has many more rounds than a minute, but the same
/// limits.
struct FlatnessJudge {
    /// The number of warm-up rounds, after which connections, caches and the log have their lasting size.
    static let warmRounds = 40
    /// The number of further rounds that are needed to detect growth.
    static let leastRounds = 40
    /// The allowed growth of memory in bytes, for memory that allocators keep.
    static let memory = 48 << 20
    /// The allowed growth of the number of descriptors, for connections of the readers' pool that open late.
    static let descriptors = 16
    /// The maximum size of a log in bytes (rule 23).
    static let log = 64 << 20

    private var first: (rounds: Int, measurement: Measurement)?
    /// Whether there were enough rounds to detect growth.
    private(set) var canTell = false

    /// Returns the resources that grow after a number of rounds, one sentence each; empty if none does as far
    /// as can be detected.
    mutating func problems(with now: Measurement, after rounds: Int) -> [String] {
        var problems: [String] = []
        if now.log > Self.log { problems.append("A log has \(now.log >> 20) MB.") }
        guard let first else {
            if rounds >= Self.warmRounds { self.first = (rounds, now) }
            return problems
        }
        if rounds >= first.rounds + Self.leastRounds { canTell = true }
        if now.memory > first.measurement.memory + Self.memory {
            problems.append("The memory grew from \(first.measurement.memory >> 20) to \(now.memory >> 20) MB.")
        }
        if now.descriptors > first.measurement.descriptors + Self.descriptors {
            problems.append(
                "The open descriptors grew from \(first.measurement.descriptors) to \(now.descriptors).")
        }
        return problems
    }
}
