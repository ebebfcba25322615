import ArgumentParser
import DataVault
import EncryptedSQLite
import Foundation
import Logging
import ODataClient
import ODataDatabases
import ODataGenerator
import ODataHTTP
import ODataModel
import ODataQuery
import ODataSQL
import ODataServer
import ODataService
import OfflineOData
import Secrets
import Supportability
import ToolLanguage

/// An error in words for a person: the fault, its reason, and the next step.
struct Failure: Error {
    var message: TerminalText
    var advice: TerminalText?
    var status: ExitStatus = .failed
    /// The error of a library that this failure describes.
    var cause: (any Error)?

    /// Reports an error to the person and ends the process.
    ///
    /// - Parameters:
    ///   - subject: the subject of the command.
    ///   - logger: receives the error too, if a command has begun.
    static func report(_ error: any Error, of subject: CommandSubject, _ logger: Logger? = nil) -> Never {
        if let quiet = error as? QuietExit {
            ToolLog.ends(with: quiet.status, logger)
            exit(quiet.status.rawValue)
        }
        let code = Outpost.exitCode(for: error)
        guard error is any CleanFailure || !isParserError(error) else {
            if code == .success {
                Terminal.write(Array("\(ParserText.text(Outpost.fullMessage(for: error)))\n".utf8), isDocument: true)
                exit(0)
            }
            let misuse = Misuse(error, arguments: Array(CommandLine.arguments.dropFirst()))
            if ErrorReport.isWanted {
                ErrorReport(misuse).write()
            } else {
                show(misuse.message, advice: misuse.advice)
            }
            exit(ExitStatus.misused.rawValue)
        }
        let failure = Failure(error, of: subject)
        ToolLog.fails(with: failure.cause ?? error, failure.status, logger)
        if ErrorReport.isWanted {
            ErrorReport(failure).write()
        } else {
            show(failure.message, advice: failure.advice)
        }
        exit(failure.status.rawValue)
    }

    private static func show(_ message: TerminalText, advice: TerminalText?) {
        let label: TerminalText = "error:"
        Terminal.error("\(Terminal.red(label, on: .error)) \(message)")
        if let advice { Terminal.error(advice) }
    }

    /// Whether the error comes from the argument parser: usage, help and version texts.
    static func isParserError(_ error: any Error) -> Bool {
        if error is ValidationError || error is ExitCode || error is CleanExit { return true }
        return String(reflecting: type(of: error)).hasPrefix("ArgumentParser.")
    }

    init(
        message: TerminalText, advice: TerminalText? = nil, status: ExitStatus = .failed, cause: (any Error)? = nil
    ) {
        self.message = message
        self.advice = advice
        self.status = status
        self.cause = cause
    }

    /// Describes an error of a library.
    ///
    /// - Parameter subject: the subject of the command that failed.
    init(_ error: any Error, of subject: CommandSubject = CommandSubject()) {
        switch error {
        case let failure as Failure: self = failure
        case let error as QueryError: self.init(query: error)
        case let error as TransportError: self.init(transport: error)
        case let error as StoreError: self.init(store: error, of: subject)
        case let error as EncryptedDatabaseError: self.init(database: error, of: subject)
        case let error as OfflineError: self.init(offline: error)
        case let error as UserSwitchError:
            let directory = subject.clone ?? "DIR"
            let advice: TerminalText =
                switch error {
                case .changesWait:
                    """
                    Send them first: outpost hand-over \(directory) NAME --pending push
                    Or give them up: outpost hand-over \(directory) NAME --pending discard
                    """
                case .localEntitiesRemain: "Give them up with: outpost hand-over \(directory) NAME --pending discard"
                case .uploadFailed: "See what was refused: outpost changes \(directory) --failed"
                }
            self.init(message: TerminalText(LibraryText.words(of: error)), advice: advice)
        case let error as MetadataError: self.init(metadata: error, of: subject)
        case let error as GeneratorError: self.init(generator: error)
        case let error as CSDLError: self.init(message: TerminalText(LibraryText.words(of: error)))
        case let error as ODataError:
            // A clone answers without HTTP, so the status of its errors means nothing to a person.
            let message = subject.service == nil ? LibraryText.text(error.message) : LibraryText.words(of: error)
            self.init(message: TerminalText(message), advice: Self.advice(for: error, of: subject))
        case let error as ServerStartError: self.init(serving: error)
        case let error as ForeignDatabaseError: self.init(foreign: error)
        case let error as DataVaultError: self.init(vault: error)
        case let error as StoredLogError: self.init(log: error)
        case let error as SecretError: self.init(secret: error)
        case let error as any CodedError:
            let diagnosis = ErrorDiagnosis(error)
            self.init(
                message: TerminalText(LibraryText.words(of: error)),
                advice: TerminalText(diagnosis.recoveryHint(locale: Language.current.rawValue)))
        case let error as any CustomStringConvertible: self.init(message: TerminalText(error.description))
        default: self.init(message: TerminalText(error.systemReason))
        }
        advice = advice.map(subject.filled)
        if !(error is Failure) { cause = error }
    }

    /// Returns the description of an error as a sentence.
    private static func sentence(_ error: any Error) -> TerminalText {
        let words = LibraryText.words(of: error)
        return TerminalText(words.hasSuffix(".") ? words : words + ".")
    }

    /// Shows the query with a mark under the wrong place.
    private init(query error: QueryError) {
        var lines = [TerminalText(error.words)]
        if let text = error.text, let offset = error.offset, offset <= text.count {
            // A long text is cut around the place.
            let start = max(0, offset - 60)
            let shown = String(text.dropFirst(start).prefix(100))
            lines.append("  \(start > 0 ? "…" : "")\(shown)")
            lines.append("  \(String(repeating: " ", count: offset - start + (start > 0 ? 1 : 0)))^")
        }
        var advice: TerminalText?
        if case .unsupported = error.kind { advice = "This part of the query language is not supported." }
        self.init(message: lines.joined(separator: "\n"), advice: advice)
    }

    private init(metadata error: MetadataError, of subject: CommandSubject) {
        let advice: TerminalText
        switch error {
        case .notFound, .notOData: advice = "Give the root of the service: the address before $metadata."
        case .unauthorized: advice = subject.signingIn
        case .forbidden: advice = "Ask for access, or use another user."
        case .webPage: advice = "Open the address in a browser to see that page."
        case .redirected: advice = "Use the new address in place of this one."
        case .incomplete: advice = "Nothing was kept. Run the same command again."
        case .invalid: advice = "Report this to the operator of the service."
        case .refused: advice = "Give the root of the service. If this is the root, ask the operator of the service."
        }
        self.init(message: TerminalText(SecretRedaction().redacted(LibraryText.words(of: error))), advice: advice)
    }

    private init(transport error: TransportError) {
        let advice: TerminalText
        switch error {
        case .invalidURL: advice = "Give the root of the service, such as https://host/service/."
        case .cannotConnect: advice = "Is the service running, and is this the right address?"
        case .untrustedCertificate:
            advice = "If you trust the certificate, name its authority with --trust FILE.pem."
        case .clientCertificateRefused: advice = "Ask the service's operator which certificates it accepts."
        case .proxyAuthenticationRequired: advice = "The proxy on the way needs a user name and a password."
        case .timedOut, .connectionLost, .truncated:
            advice = "Nothing is lost. Run the same command again."
        case .tooSlow: advice = "Nothing is lost. Run the same command again when the service or the network is faster."
        case .tooLarge:
            advice = "A repetition gets the same response. Report it to the operator of the service."
        case .malformed:
            advice = "Check the address: another program, or a proxy on the way, may have answered."
        case .plainHTTP:
            advice = "Use the https address of the service. If you trust the network: --allow-plain-http"
        case .foreignLink(let origin, _):
            advice = "If that host belongs to the service: --follow \(Self.host(of: origin).shellQuoted)"
        case .unsupportedOption: advice = "Leave the option out, or use another transport."
        case .insecureLink:
            advice = "A repetition fails until the operator changes the links of the service to https."
        }
        self.init(message: TerminalText(SecretRedaction().redacted(LibraryText.words(of: error))), advice: advice)
    }

    /// Returns the host and port of an origin.
    private static func host(of origin: String) -> String {
        origin.firstRange(of: "://").map { String(origin[$0.upperBound...]) } ?? origin
    }

    private init(serving error: ServerStartError) {
        let advice: TerminalText
        switch error {
        case .cannotListen: advice = "Name another --port (0 takes a free one), and a --host of this machine."
        case .unusableCertificate: advice = "Give PEM files with --tls and --tls-key."
        }
        self.init(message: TerminalText(LibraryText.words(of: error)), advice: advice)
    }

    private init(foreign error: ForeignDatabaseError) {
        let advice: TerminalText?
        switch error {
        case .notADatabase, .notFound: advice = "Give a SQLite database, or the directory of a clone."
        case .encryptedOrDamaged: advice = "A clone is served by its directory; other encrypted files cannot be served."
        case .locked: advice = "Wait for the other program, or end it, and try again."
        case .noAccess: advice = "Ask its owner for access, or run this as another user."
        case .unknownView, .unknownColumn: advice = "Give it as --key VIEW=COLUMN, named as in the database."
        default: advice = nil
        }
        self.init(message: TerminalText(LibraryText.words(of: error)), advice: advice)
    }

    private init(generator error: GeneratorError) {
        let advice: TerminalText?
        switch error {
        case .unknownSet, .unknownType: advice = "List the names: outpost metadata show FILE-or-URL"
        case .illegalName, .nameTaken: advice = "Give another name in the configuration file."
        case .unknownGroup: advice = "Correct the groups in the configuration file."
        case .package: advice = "Correct the annotations of the package in the metadata."
        case .appName: advice = "For example: outpost new shop --service URL"
        case .metadata, .nothingToGenerate, .files: advice = nil
        }
        self.init(message: TerminalText(LibraryText.words(of: error)), advice: advice)
    }

    private init(log error: StoredLogError) {
        let advice: TerminalText?
        switch error {
        case .wrongKey, .keyMissing, .notSealed, .unknownFormat:
            advice = "Remove \(ToolFolders.log ?? translated("its folder")) to begin a new log."
        case .busy: advice = "Try again when the other commands have finished."
        default: advice = nil
        }
        self.init(message: TerminalText(LibraryText.words(of: error)), advice: advice)
    }

    private init(vault error: DataVaultError) {
        let advice: TerminalText?
        switch error {
        case .system, .noHome:
            advice = "Name a folder of your own in XDG_DATA_HOME, or keep the key yourself with --key-file FILE."
        case .exposed(let path, _): advice = "If nobody else has read it: chmod go= \(path.shellQuoted)"
        default: advice = nil
        }
        self.init(message: TerminalText(LibraryText.words(of: error)), advice: advice)
    }

    /// Describes an unusable key, from a file or a typed passphrase.
    private init(secret error: SecretError) {
        let words = LibraryText.words(of: error)
        var message = TerminalText(words.prefix(1).uppercased() + words.dropFirst() + (words.hasSuffix(".") ? "" : "."))
        var advice: TerminalText?
        switch error {
        case .keyFileUnreadable(let path, let code):
            message = "The key file \(path) cannot be read: \(Outpost.systemReason(code))."
            advice = "Name the file that the clone was made with: --key-file FILE"
        case .keyFileTooLarge, .keyFileNotText, .keyFileMalformed:
            advice = "Name the file that the clone was made with: --key-file FILE"
        case .keyFileWithoutHeader: advice = "Make a key file with: outpost keys new FILE"
        case .shortPassphrase: advice = "Take a longer one: several words are easy to keep in mind."
        case .exposed(let path, let problem): advice = Self.advice(for: problem, of: path)
        case .emptyPassphrase: advice = "A passphrase has at least one character."
        default: break
        }
        self.init(message: message, advice: advice, status: .misused)
    }

    private static func advice(for problem: SecretError.Exposure, of path: String) -> TerminalText {
        let remedy: TerminalText =
            switch problem {
            case .readable, .writable: "If nobody else has read it: chmod go= \(path.shellQuoted)"
            case .openFolder(let folder, _): "If nobody has exchanged it: chmod go-w \(folder.shellQuoted)"
            case .foreign, .foreignFolder, .unchecked: "Copy it to a folder of your own: install -m 600 FILE COPY"
            }
        return remedy + "\nTo use it as it is: --allow-readable-secrets"
    }

    /// Describes an error of the database in the same words as one of its store.
    private init(database error: EncryptedDatabaseError, of subject: CommandSubject) {
        switch error {
        case .secret(let error): self.init(secret: error)
        case .alreadyExists: self.init(message: Self.sentence(error), advice: "Give another name.")
        case .keyInDoubt:
            self.init(
                message: Self.sentence(error),
                advice: "Look at the device. Then change the key once more: outpost rekey DIR")
        default: self.init(store: StoreError(error, path: subject.clone.map { $0 + "/store.db" } ?? ""), of: subject)
        }
    }

    private init(store error: StoreError, of subject: CommandSubject) {
        let advice: TerminalText?
        switch error {
        case .readOnly:
            self.init(
                message:
                    "\(subject.clone ?? translated("The database")) may not be written, but even a query writes there.",
                advice: """
                    If it is yours: chmod -R u+w DIR
                    Otherwise copy it to a folder of your own: cp -r DIR COPY && chmod -R u+w COPY
                    """)
            return
        case .unusableKey(let error):
            self.init(secret: error)
            return
        case .wrongKey:
            let rest: TerminalText =
                subject.clone == nil ? "" : "\nAfter an interrupted change of the key: outpost rekey DIR"
            advice = "Give the key that the clone was made with: --key-file FILE, or the right passphrase." + rest
        case .keyUnavailable:
            advice = "Give the key that the clone was made with: --key-file FILE, or the right passphrase."
        case .diskFull, .openedOnFullDevice:
            advice = "Make room and run the same command again. Everything that was complete is kept."
        case .locked: advice = "Another program is using the file. Try again later."
        case .newerVersion: advice = "Install the newer version of outpost."
        case .corrupt: advice = "List the damage: outpost verify DIR\nSave the readable rows: outpost repair DIR"
        case .inputOutput: advice = "Look at the device and its limits, then run the same command again."
        default: advice = nil
        }
        self.init(message: TerminalText(LibraryText.words(of: error)), advice: advice)
    }

    private init(offline error: OfflineError) {
        let advice: TerminalText?
        switch error {
        case .storeExists(let path): advice = "Bring it up to date with: outpost pull \(path.shellQuoted)"
        case .noStore: advice = "Make one with: outpost clone URL DIR"
        case .busy: advice = "Wait for the other command. Reading and editing work meanwhile."
        case .stillOpen: advice = "End the other commands that use the store, such as serve or watch."
        case .queryExists(let name):
            advice =
                "Choose another name, or remove the other query first: outpost remove-query DIR \(name.shellQuoted)"
        case .unknown(let kind, _): advice = Self.advice(forUnknown: kind)
        case .inChangeSet: advice = "Undo the whole change set with --with-others."
        case .modelOutdated: advice = "Run the same command again."
        case .queueHeld:
            advice =
                """
                Check the service. If the changes were not sent: outpost push DIR --from-copy
                If they were sent, undo them: outpost undo DIR
                """
        case .keyNeeded(let request):
            advice = "Find its key at the service, then: outpost changes accept DIR \(request) --key \(request)=KEY"
        case .invalidDefiningQuery(_, let reason) where reason.contains("parameter @"):
            advice = "Set its value, which the clone keeps: outpost pull DIR --set NAME=VALUE"
        case .endless:
            advice =
                """
                If the service really has so many rows, allow them: --max-rows N. \
                Otherwise report it to the operator of the service.
                """
        case .queriesRefused(let refusals, _):
            // Each refusal is one line; none contains a line break of a service.
            self.init(
                message: refusals.map { TerminalText(LibraryText.text($0.description)) }.joined(separator: "\n"),
                advice: refusals.lazy.compactMap(\.advice).first)
            return
        default: advice = nil
        }
        self.init(message: TerminalText(LibraryText.words(of: error)), advice: advice)
    }

    private static func advice(forUnknown kind: String) -> TerminalText? {
        switch kind {
        case "defining query": "List the queries: outpost status DIR"
        case "category": "List the pending changes with their categories: outpost status DIR"
        case "refused request": "List them: outpost changes DIR --failed"
        case "request in doubt": "List them: outpost changes DIR --doubts"
        case "queued request": "List them: outpost changes DIR"
        case "entity": "Name one entity by its key, such as 'Orders(10248)'."
        default: nil
        }
    }

    private static func advice(for error: ODataError, of subject: CommandSubject) -> TerminalText? {
        if error.isNotLoaded {
            // The query may come from a service and is foreign text.
            return error.definingQuery.map { query in
                let name = MissingParts.queryName(for: error.target ?? "NAME")
                return "Bring it: outpost add-query DIR \("\(name)=\(query)".shellQuoted), then: outpost pull DIR"
            }
        }
        return switch error.status {
        case 401: subject.signingIn
        case 502 where error.code == "EndlessAnswer":
            """
            If the service really has so many rows, allow them: --max-rows N. \
            Otherwise report it to the operator of the service.
            """
        case 502 where error.code == "ForeignLink":
            "If that host belongs to the service: --follow HOST. Otherwise report it to the operator of the service."
        case 413 where error.code == "PayloadTooLarge":
            "A repetition gets the same response. Ask for less with $select or $filter."
        case 403: "This user does not have permission at the service."
        case 507 where subject.clone != nil: "Make room and run the same command again. Reading works meanwhile."
        case 429, 503: "The service is busy. Nothing is lost: try again later."
        default: nil
        }
    }
}

/// A mark for errors that ``Failure`` reports even if the argument parser could print them.
protocol CleanFailure {}
extension Failure: CleanFailure {}

/// An error that ends the process without a message, since everything has been printed.
struct QuietExit: Error {
    var status: ExitStatus
}

extension TransportError {
    /// Whether the same request may succeed later, because the connection failed.
    var mayPass: Bool {
        switch self {
        case .cannotConnect, .timedOut, .connectionLost, .truncated, .tooSlow: true
        default: false
        }
    }
}
