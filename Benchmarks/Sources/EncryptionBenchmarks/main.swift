// The encrypted store beside a plain one and beside SQLCipher: the same work through the same interface, in turns.
import Foundation
import Measuring

/// The work, with the limits that the design sets: times the plain store's processor time, and times SQLCipher's speed.
enum Work: String, CaseIterable {
    case insert = "bulk insert"
    case change = "small transactions"
    case readCached = "reads within the cache"
    case read = "random reads, store 8 times the cache"
    case scan = "scan, store 8 times the cache"

    var limit: Double {
        switch self {
        case .insert, .change: 1.3
        case .readCached: 1.05
        case .read, .scan: 1.4
        }
    }

    /// Whether encryption is most of the difference. Inserting is mostly SQLite's own work: without any
    /// encryption it would not be 1.5 times as fast as SQLCipher.
    var isDominated: Bool { self == .read || self == .scan }
}

struct Options {
    var rows = 340_000
    var rounds = 7
    var reads = 100_000
    var changes = 4_000

    /// About 190 bytes a row with its part of the index.
    var megabytes: Double { Double(rows) * 190 / 1_048_576 }
}

/// The least processor time, in seconds, of each work in each way.
func measure(_ options: Options, _ libraries: Libraries, in folder: String) throws -> [Way: [Work: Double]] {
    var best: [Way: [Work: Double]] = [:]
    func time(_ work: Work, _ way: Way, _ body: () throws -> Void) rethrows {
        let start = processorTime()
        try body()
        let taken = processorTime() - start
        best[way, default: [:]][work] = min(best[way]?[work] ?? .infinity, taken)
    }
    let ways = Way.allCases.filter { $0 != .sqlcipher || libraries.sqlcipher != nil }
    for _ in 0..<options.rounds {
        var sums: Set<Int64> = []
        var open: [(Way, Connection)] = []
        for way in ways {
            let connection = try way.create(at: folder + "/" + way.rawValue + ".db", libraries: libraries)
            try connection.setCache(megabytes: 16)
            try time(.insert, way) { try connection.insert(options.rows) }
            open.append((way, connection))
        }
        for (way, connection) in open {
            try time(.change, way) { try connection.change(options.changes, of: options.rows) }
            try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        }
        for (_, connection) in open { try connection.setCache(megabytes: options.megabytes / 8) }
        for (way, connection) in open {
            try time(.read, way) { sums.insert(try connection.read(options.reads, of: options.rows)) }
        }
        guard sums.count == 1 else { throw Failure("the ways read different rows") }
        for (way, connection) in open { try time(.scan, way) { sums.insert(try connection.scan()) } }
        guard sums.count == 2 else { throw Failure("the ways scanned different rows") }
        for connection in open.map(\.1) {
            try connection.setCache(megabytes: options.megabytes * 2)
            _ = try connection.read(options.reads, of: options.rows)
        }
        for _ in 0..<3 {
            for (way, connection) in open {
                try time(.readCached, way) { _ = try connection.read(options.reads, of: options.rows) }
            }
        }
    }
    return best
}

func report(_ best: [Way: [Work: Double]]) {
    for work in Work.allCases {
        let times = Way.allCases.compactMap { way in best[way]?[work].map { "\(way) \(Int($0 * 1000)) ms" } }
        print(work.rawValue.padding(toLength: 40, withPad: " ", startingAt: 0) + times.joined(separator: ", "))
    }
    for work in Work.allCases {
        guard let plain = best[.plain]?[work], let encrypted = best[.encrypted]?[work] else { continue }
        Figure("\(work.rawValue), encrypted against plain", encrypted / plain).print(atMost: work.limit)
    }
    for work in Work.allCases where work.isDominated {
        guard let other = best[.sqlcipher]?[work], let encrypted = best[.encrypted]?[work] else { continue }
        Figure("\(work.rawValue), speed against SQLCipher", other / encrypted).print(atLeast: 1.5)
    }
    if best[.sqlcipher] == nil { print("SQLCipher was not measured: OUTPOST_SQLCIPHER names no library") }
}

do {
    var options = Options()
    if CommandLine.arguments.contains("--quick") {
        options = Options(rows: 34_000, reads: 10_000, changes: 400)
    }
    let folder = NSTemporaryDirectory() + "encryption-bench-\(getpid())"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    report(try measure(options, Libraries(), in: folder))
} catch {
    FileHandle.standardError.write(Data("EncryptionBenchmarks: \(error)\n".utf8))
    exit(1)
}
