import OfflineOData
import ToolLanguage

/// The state of a synchronisation as a line for a person: rows, bytes, rate and remaining time.
struct TransferProgress {
    private struct Part {
        var done: Int
        var total: Int?
    }

    /// The rows of each defining query that were here before a resumed download.
    private let kept: [String: Int]
    private var parts: [String: Part] = [:]
    private var latest: SyncProgress?
    /// The moments of the last seconds with the rows done by then, for the rate.
    private var samples: [(time: Double, rows: Int)] = []

    /// The time over which the rate is measured, in seconds.
    private static let window = 10.0

    /// Creates the state.
    ///
    /// - Parameter kept: the kept rows of each interrupted first download.
    init(kept: [String: Int] = [:]) { self.kept = kept }

    /// Takes a report.
    ///
    /// - Parameter time: the seconds since the start.
    mutating func update(_ report: SyncProgress, at time: Double) {
        if report.phase != latest?.phase, report.phase != .downloading { parts = [:] }
        if let old = latest, old.phase != report.phase { samples = [] }
        latest = report
        let before = report.phase == .downloading ? kept[report.query ?? ""] ?? 0 : 0
        parts[report.query ?? ""] = Part(
            done: before + report.done, total: report.total ?? parts[report.query ?? ""]?.total)
        samples.append((time, rows))
        // One sample before the window stays, so that a slow transfer has a rate too.
        while samples.count > 2, samples[1].time < time - Self.window { samples.removeFirst() }
    }

    private var rows: Int { parts.values.reduce(0) { $0 + $1.done } }

    private var total: Int? {
        var sum = 0
        for part in parts.values {
            guard let total = part.total else { return nil }
            sum += max(total, part.done)
        }
        return sum
    }

    /// The rows per second; `nil` until it can be measured.
    private func rate(at time: Double) -> Double? {
        guard let first = samples.first, time - first.time >= 0.5, rows > first.rows else { return nil }
        return Double(rows - first.rows) / (time - first.time)
    }

    /// The line at a time.
    func text(at time: Double) -> TerminalText {
        guard let latest else { return "Connecting \(Self.elapsed(time))" }
        let name: TerminalText =
            parts.count > 1 ? " \(parts.count) queries" : latest.query.map { " \($0)" } ?? ""
        let title: TerminalText = "\(latest.phase.verb)\(name)"
        if rows == 0, latest.phase == .downloading {
            return "\(title): the service prepares the first rows \(Self.elapsed(time))"
        }
        guard latest.phase.counts else { return "\(title) \(Self.elapsed(time))" }
        var facts: [TerminalText] = []
        if let total, total > 0 {
            let percent = min(100, rows * 100 / total)
            facts.append("\(Terminal.number(rows)) of \(latest.phase.counted(total)) (\(percent) %)")
        } else {
            facts.append("\(latest.phase.counted(rows))")
        }
        if let bytes = latest.bytes, bytes > 0, latest.phase == .downloading {
            facts.append("\(Terminal.bytes(bytes))")
        }
        let rate = rate(at: time)
        if let rate, rate >= 1 { facts.append("\(Terminal.number(Int(rate)))/s") }
        if let rate, let total, total > rows {
            facts.append("\(Self.duration(Double(total - rows) / rate)) left")
        } else {
            return "\(title): \(facts.joined(separator: ", ")) \(Self.elapsed(time))"
        }
        return "\(title): \(facts.joined(separator: ", "))"
    }

    /// The time since the start, as every line of progress shows it.
    static func elapsed(_ time: Double) -> String { "… \(Int(time)) s" }

    /// A remaining time, the rougher the longer.
    static func duration(_ seconds: Double) -> TerminalText {
        switch seconds {
        case ..<90: "\(max(1, Int(seconds.rounded()))) s"
        case ..<5400: "\(Int((seconds / 60).rounded())) min"
        case ..<360_000: "\(Int((seconds / 3600).rounded())) h"
        default: "more than 4 days"
        }
    }
}

extension SyncProgress.Phase {
    fileprivate var verb: TerminalText {
        switch self {
        case .loadingMetadata: "Reading metadata"
        case .downloading: "Downloading"
        case .loadingStreams: "Loading streams"
        case .applying: "Applying"
        case .uploading: "Uploading"
        case .finished: "Done"
        }
    }

    /// Whether reports of the phase have numbers.
    fileprivate var counts: Bool { self != .loadingMetadata && self != .finished }

    fileprivate func counted(_ count: Int) -> String {
        switch self {
        case .uploading: Terminal.plural(count, "change")
        case .loadingStreams: Terminal.plural(count, "stream")
        default: Terminal.plural(count, "row")
        }
    }
}
