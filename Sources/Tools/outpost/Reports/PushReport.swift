import OfflineOData
import Synchronization

/// The result of a push.
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

    /// Prints the result.
    ///
    /// - Parameters:
    ///   - directory: the directory of the clone.
    ///   - archived: the number of changes in the error archive, which are not sent again automatically.
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
        // One text, in place of the line of progress.
        Terminal.write(lines.joined(separator: "\n") + "\n")
    }
}

extension UploadReport {
    /// Whether the report is empty.
    var isEmpty: Bool { accepted.isEmpty && givenUp.isEmpty && failed.isEmpty && waiting.isEmpty }
}

/// Keeps the result of an upload that ended early, because its error does not contain the result.
final class EarlyEnd: OfflineStoreDelegate {
    private let stored = Mutex<UploadReport?>(nil)

    /// The result; `nil` if no upload ended early with a result.
    var report: UploadReport? { stored.withLock { $0 }.flatMap { $0.isEmpty ? nil : $0 } }

    func offlineStore(_ store: OfflineStore, uploadDidEndEarly report: UploadReport) {
        stored.withLock { $0 = report }
    }
}

extension Failure {
    /// Describes the failure of a command that had sent changes before, with the refused ones.
    ///
    /// - Parameters:
    ///   - error: the error.
    ///   - sent: the result before the error.
    ///   - subject: the subject of the command.
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
