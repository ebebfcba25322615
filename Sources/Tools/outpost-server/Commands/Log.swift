import ArgumentParser
import Foundation
import MobileServer
import ServerState
import ToolLanguage

/// `outpost-server log`.
struct LogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: translated("List, show, export and delete what devices have uploaded."),
        discussion: translated(
            paragraphs: """
                Devices upload logs, traces, crash reports, usage and stores, as far as policies allow it. An upload is \
                data of a stranger: it is shown without its control characters, and exported as it is.

                EXAMPLE
                  outpost-server log list shop --kind crash
                  outpost-server log export 0123456789abcdef0123456789abcdef crash.txt
                """),
        subcommands: [ListUploads.self, ShowUpload.self, ExportUpload.self, DeleteUpload.self])

    struct ListUploads: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: translated("List uploads, newest first."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost-server log list shop
                      outpost-server log list --kind store --json
                    """))

        @OptionGroup var options: ServerOptions

        @Argument(help: .text("The application; by default all."))
        var app: String?

        @Option(help: .text("Uploads of one kind: log, trace, crash, usage or store.", valueName: "kind"))
        var kind: String?

        @Option(help: .text("Uploads of one device.", valueName: "id"))
        var device: String?

        func run() async throws {
            var filter = DeviceUploadFilter(registration: device)
            if let kind {
                guard let known = DeviceUploadKind(rawValue: kind) else {
                    throw ServerFailure(
                        "There is no kind '\(kind)'.", advice: "Use log, trace, crash, usage or store.",
                        status: .misused)
                }
                filter.kind = known
            }
            let rows = try await options.withServer { [filter] server in
                var filter = filter
                if let app { filter.application = try await server.application(app).id }
                let names = try await server.state.applications.all().reduce(into: [:]) { $0[$1.id] = $1.name }
                return try await server.state.uploads.uploads(filter).map { record in
                    UploadRow(record, application: names[record.upload.application] ?? "")
                }
            }
            if options.json { return Console.json(rows) }
            Console.table(
                ["ID", "APPLICATION", "DEVICE", "KIND", "STATE", "BYTES", "SENT", "NOTE"],
                rows.map {
                    [
                        $0.id, $0.application, $0.device, $0.kind, $0.state, "\($0.size)",
                        $0.createdAt.formatted(.iso8601), $0.note ?? "",
                    ]
                })
        }
    }

    struct ShowUpload: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: translated("Show an upload of text."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost-server log show 0123456789abcdef0123456789abcdef
                    """))

        @OptionGroup var options: ServerOptions

        @Argument(help: .text("The identifier of the upload."))
        var id: String

        /// The maximum number of bytes that are shown.
        private static let limit = 1 << 20

        func run() async throws {
            let bytes = try await options.withServer { server in
                let record = try await server.upload(id)
                try await server.audit("upload.read", record.id)
                var bytes: [UInt8] = []
                while bytes.count < Self.limit {
                    let part = try await server.state.uploads.bytes(of: record.id, from: Int64(bytes.count))
                    if part.isEmpty { break }
                    bytes += part
                }
                return bytes
            }
            guard let text = String(validating: bytes.prefix(Self.limit), as: UTF8.self) else {
                throw ServerFailure(
                    "The upload is no text.", advice: "Write it to a file with 'outpost-server log export'.")
            }
            if options.json { return Console.json(["text": text]) }
            Console.document(HarmlessText.document(text) + "\n")
            if bytes.count > Self.limit { Console.error("The rest is longer than \(Self.limit) bytes.") }
        }
    }

    struct ExportUpload: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export", abstract: translated("Write the bytes of an upload to a new file."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost-server log export 0123456789abcdef0123456789abcdef crash.txt
                    """))

        @OptionGroup var options: ServerOptions

        @Argument(help: .text("The identifier of the upload."))
        var id: String

        @Argument(help: .text("The file, which must not exist."), completion: .file())
        var file: String

        func run() async throws {
            let size = try await options.withServer { server in
                let record = try await server.upload(id)
                guard !FileManager.default.fileExists(atPath: file),
                    FileManager.default.createFile(
                        atPath: file, contents: nil, attributes: [.posixPermissions: 0o600]),
                    let target = FileHandle(forWritingAtPath: file)
                else {
                    throw ServerFailure("\(file) exists or cannot be made.", advice: "Name another file.")
                }
                defer { try? target.close() }
                try await server.audit("upload.read", record.id)
                var position: Int64 = 0
                while true {
                    let part = try await server.state.uploads.bytes(of: record.id, from: position)
                    if part.isEmpty { break }
                    try target.write(contentsOf: Data(part))
                    position += Int64(part.count)
                }
                return position
            }
            if options.json { return Console.json(["bytes": size]) }
            Console.line("\(file) has \(size) bytes.")
        }
    }

    struct DeleteUpload: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete", abstract: translated("Delete an upload."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost-server log delete 0123456789abcdef0123456789abcdef
                    """))

        @OptionGroup var options: ServerOptions

        @Argument(help: .text("The identifier of the upload."))
        var id: String

        func run() async throws {
            try await options.withServer { server in
                let record = try await server.upload(id)
                _ = try await server.state.uploads.remove(record.id)
                try await server.audit("upload.remove", record.id)
            }
            if options.json { return Console.json(["deleted": id]) }
            Console.line("The upload \(id) is deleted.")
        }
    }
}

/// An upload in the output of `log list`.
private struct UploadRow: Encodable, Sendable {
    var id: String
    var application: String
    var device: String
    var kind: String
    var state: String
    var size: Int64
    var note: String?
    var consentedAt: Date?
    var createdAt: Date
    var expiresAt: Date

    init(_ record: DeviceUploadRecord, application: String) {
        id = record.id
        self.application = application
        device = record.upload.registration
        kind = record.upload.kind.rawValue
        state = record.state.rawValue
        size = record.receivedSize
        note = record.upload.note
        consentedAt = record.upload.consentedAt?.date
        createdAt = record.createdAt.date
        expiresAt = record.upload.expiresAt.date
    }
}

extension OpenServer {
    /// Returns an upload.
    func upload(_ id: String) async throws -> DeviceUploadRecord {
        guard let record = try await state.uploads.upload(id) else {
            throw ServerFailure(
                "There is no upload '\(id)'.", advice: "List the uploads with 'outpost-server log list'.")
        }
        return record
    }
}
