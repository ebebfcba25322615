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
    /// Bytes of the store's write-ahead log.
    var log: Int
    /// Bytes of the store's database. It is shown, not judged: keys that rows had before are kept for good.
    var database: Int

    /// Measures this process, and the store in a directory.
    init(storeIn directory: String) {
        // The second number of statm is how many pages are resident.
        let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
        memory = (pages.flatMap { $0.count > 1 ? Int($0[1]) : nil } ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
        descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.count ?? 0
        log = Self.size(directory + "/store.db-wal")
        database = Self.size(directory + "/store.db")
    }

    private static func size(_ path: String) -> Int {
        ((try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int) ?? 0
    }

    /// For people: one line.
    var text: String {
        "memory \(memory >> 20) MB, descriptors \(descriptors), log \(log >> 10) KB, database \(database >> 10) KB"
    }
}

/// What a soak may take, measured when everything is warm.
///
/// Flat is what does not grow with the number of rounds: an hour has many more of them than a minute, and the same limits.
struct FlatLimits {
    /// How many bytes more memory than at first: what allocators keep.
    static let memory = 48 << 20
    /// How many descriptors more than at first: connections of the readers' pool that open late.
    static let descriptors = 16
    /// The most bytes of the log, ever (rule 23).
    static let log = 64 << 20

    let first: Measurement

    /// What is not flat, one sentence each; empty when all is.
    func problems(with now: Measurement) -> [String] {
        var problems: [String] = []
        if now.memory > first.memory + Self.memory {
            problems.append("The memory grew from \(first.memory >> 20) to \(now.memory >> 20) MB.")
        }
        if now.descriptors > first.descriptors + Self.descriptors {
            problems.append("The open descriptors grew from \(first.descriptors) to \(now.descriptors).")
        }
        if now.log > Self.log { problems.append("The log has \(now.log >> 20) MB.") }
        return problems
    }
}
