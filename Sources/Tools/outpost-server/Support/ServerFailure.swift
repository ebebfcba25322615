import ArgumentParser
import ErrorCodes
import Foundation
import MobileServer
import ServerState
import ToolLanguage

/// An error in words for an operator: the fault, its reason, and the next step.
struct ServerFailure: Error {
    var message: TerminalText
    var advice: TerminalText?
    var status = ServerExit.failed

    /// Reports an error, and ends the process.
    static func report(_ error: any Error) -> Never {
        if let exit = error as? ExitCode { Foundation.exit(exit.rawValue) }
        if isParserError(error) {
            let code = OutpostServer.exitCode(for: error)
            let text = ParserText.text(OutpostServer.fullMessage(for: error).replacing(#/^Error: /#, with: ""))
            if code == .success {
                Console.document(text + "\n")
                Foundation.exit(0)
            }
            finish(code: "tool.usage", TerminalText(lines: text), advice: nil, status: .misused)
        }
        let failure = ServerFailure(error)
        finish(code: "\(ErrorCode(error))", failure.message, advice: failure.advice, status: failure.status)
    }

    private static func finish(
        code: String, _ message: TerminalText, advice: TerminalText?, status: ServerExit
    ) -> Never {
        if CommandLine.arguments.contains("--json") {
            let report = Report(
                error: .init(
                    code: code, message: message.description, advice: advice?.description, exitCode: status.rawValue))
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            Console.error(TerminalText(json: String(decoding: (try? encoder.encode(report)) ?? Data(), as: UTF8.self)))
        } else {
            Console.error("error: \(message)")
            if let advice { Console.error(advice) }
        }
        Foundation.exit(status.rawValue)
    }

    private struct Report: Encodable {
        struct Body: Encodable {
            var code: String
            var message: String
            var advice: String?
            var exitCode: Int32
        }

        var error: Body
    }

    private static func isParserError(_ error: any Error) -> Bool {
        error is ValidationError || error is CleanExit
            || String(reflecting: type(of: error)).hasPrefix("ArgumentParser.")
    }

    init(_ message: TerminalText, advice: TerminalText? = nil, status: ServerExit = .failed) {
        self.message = message
        self.advice = advice
        self.status = status
    }

    init(_ error: any Error) {
        switch error {
        case let failure as ServerFailure: self = failure
        case let error as ConfigurationError:
            self.init(error.problems.map(Self.words(of:)).joined(separator: "\n"), status: .misused)
        case let error as ServerFolderError:
            self.init(TerminalText(LibraryText.words(of: error)), advice: Self.advice(for: error))
        case let error as ServerKeyError:
            self.init(
                TerminalText(LibraryText.words(of: error)),
                advice: "Check the data folder and keys.master, or restore the master key from its safe place.")
        case ServerStateError.newerSchema(let found, let known):
            self.init(
                "The tables have version \(found), and this build knows versions up to \(known).",
                advice: "Use the newer build, or restore a backup.")
        case let error as any CodedError:
            let advice = ErrorMessages.standard.recoveryHint(for: error, locale: Language.current.rawValue)
            self.init(TerminalText(lines: LibraryText.words(of: error)), advice: advice.map { TerminalText($0) })
        default: self.init(TerminalText(lines: LibraryText.text("\(error)")))
        }
    }

    /// Returns a mistake of a configuration file with its place.
    static func words(of problem: ConfigurationProblem) -> TerminalText {
        let place = problem.line > 0 ? "\(problem.path):\(problem.line):\(problem.column)" : problem.path
        let message = LibraryText.text(problem.message)
        return problem.isWarning ? "\(place): warning: \(message)" : "\(place): \(message)"
    }

    private static func advice(for error: ServerFolderError) -> TerminalText? {
        switch error {
        case .notEmpty: "Name a folder that does not exist or is empty."
        case .unusable, .badBackup: nil
        }
    }
}
