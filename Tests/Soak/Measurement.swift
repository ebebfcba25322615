import Foundation

#if canImport(Darwin)
    import Darwin
#endif

/// What a process and the files it works on take, at one moment.
struct Measurement {
    /// Bytes of memory that the process has to itself or shares; 0 where the system does not tell.
    var memory: Int
    /// Files, sockets and pipes that are open; 0 where the system does not tell.
    var descriptors: Int
    /// Bytes of the largest write-ahead log of a store.
    var log: Int
    /// Bytes of the stores' databases. They are shown, not judged: keys that rows had before are kept for good.
    var database: Int

    /// Measures this process, and the stores in some directories.
    init(storesIn directories: [String]) {
        // The second number of statm is how many pages are resident.
        let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
        memory = (pages.flatMap { $0.count > 1 ? Int($0[1]) : nil } ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
        descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.count ?? 0
        log = directories.map { Self.size($0 + "/store.db-wal") }.max() ?? 0
        database = directories.map { Self.size($0 + "/store.db") }.reduce(0, +)
    }

    private static func size(_ path: String) -> Int {
        ((try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int) ?? 0
    }

    /// For people: one line.
    var text: String {
        "memory \(memory >> 20) MB, descriptors \(descriptors), log \(log >> 10) KB, database \(database >> 10) KB"
    }
}

/// Judges what a soak takes, by what it took when everything was warm.
///
/// Flat is what does not grow with the number of rounds: an hour has many more of them than a minute, and the same limits.
struct FlatnessJudge {
    /// After how many rounds everything is warm: what they made is there to stay, such as connections, caches and the log.
    static let warmRounds = 40
    /// How many more rounds it takes to tell whether anything grows with them.
    static let leastRounds = 40
    /// How many bytes more memory than at first: what allocators keep.
    static let memory = 48 << 20
    /// How many descriptors more than at first: connections of the readers' pool that open late.
    static let descriptors = 16
    /// The most bytes of a log, ever (rule 23).
    static let log = 64 << 20

    private var first: (rounds: Int, measurement: Measurement)?
    /// Whether there were enough rounds to tell.
    private(set) var canTell = false

    /// What is not flat after so many rounds, one sentence each; empty when all is, as far as can be told.
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
