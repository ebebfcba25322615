import OfflineOData
import Synchronization

/// What a push did.
struct PushReport: Encodable {
    var accepted: [RequestLine]
    /// The changes that '--on-conflict theirs' gave up.
    var givenUp: [RequestLine]
    var failed: [RequestLine]
    var waiting: [RequestLine]

    init(_ report: UploadReport) {
        accepted = report.accepted.map(RequestLine.init)
        givenUp = report.givenUp.map(RequestLine.init)
        failed = report.failed.map(RequestLine.init)
        waiting = report.waiting.map(RequestLine.init)
    }

    /// Tells a person.
    ///
    /// - Parameters:
    ///   - directory: where the clone is.
    ///   - archived: how many changes are in the error archive, which are not sent again by themselves.
    static func show(_ report: UploadReport, of directory: String, archived: Int = 0) {
        let errors = "outpost errors \(directory.shellQuoted)"
        guard !report.isEmpty else {
            let waiting = archived == 0 ? "" : " \(Terminal.plural(archived, "change")) in the error archive: \(errors)"
            print("Nothing to push.\(waiting)")
            return
        }
        var lines: [TerminalText] = report.accepted.map { "\(Terminal.green("accepted")) \(RequestLine.text($0))" }
        lines += report.givenUp.map { "\(Terminal.yellow("given up")) \(RequestLine.text($0))" }
        lines += report.failed.map { "\(Terminal.red("refused"))  \(RequestLine.text($0))" }
        lines += report.waiting.map { "\(Terminal.yellow("waiting"))  \(RequestLine.text($0))" }
        let givenUp = report.givenUp.isEmpty ? "" : ", \(Terminal.number(report.givenUp.count)) given up"
        lines.append(
            "Pushed \(Terminal.plural(report.accepted.count, "change")), "
                + "\(Terminal.number(report.failed.count)) refused, "
                + "\(Terminal.number(report.waiting.count)) waiting\(givenUp).")
        if !report.failed.isEmpty {
            lines.append(
                Terminal.dim("Mend a refused change by editing its entity again, or see: \(errors)"))
        }
        // As one, and in place of the line that tells of progress.
        Terminal.write(lines.joined(separator: "\n") + "\n")
    }
}

extension UploadReport {
    /// Whether there is nothing to tell of.
    var isEmpty: Bool { accepted.isEmpty && givenUp.isEmpty && failed.isEmpty && waiting.isEmpty }
}

/// Keeps what came through of an upload that ended early: nobody else tells of it.
final class EarlyEnd: OfflineStoreDelegate {
    private let stored = Mutex<UploadReport?>(nil)

    /// What came through; `nil` where no upload ended early, or nothing did.
    var report: UploadReport? { stored.withLock { $0 }.flatMap { $0.isEmpty ? nil : $0 } }

    func offlineStore(_ store: OfflineStore, uploadDidEndEarly report: UploadReport) {
        stored.withLock { $0 = report }
    }
}

extension Failure {
    /// The failure of a command that had sent changes before: that some of them were refused is not lost with it.
    ///
    /// - Parameters:
    ///   - error: why it failed.
    ///   - sent: what came through before.
    ///   - subject: what the command worked on.
    init(_ error: any Error, behind sent: UploadReport, of subject: CommandSubject) {
        self.init(error, of: subject)
        guard !sent.failed.isEmpty else { return }
        status = .someRefused
        let count = Terminal.plural(sent.failed.count, "change")
        let refused: TerminalText =
            "\(count) \(sent.failed.count == 1 ? "was" : "were") refused before that: outpost errors DIR"
        advice = [advice, subject.filled(refused)].compactMap { $0 }.joined(separator: "\n")
    }
}
