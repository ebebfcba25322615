import ArgumentParser
import Foundation
import MobileServer
import ODataService
import ServerState
import ToolLanguage

/// `outpost-server bundle`.
struct BundleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bundle",
        abstract: translated("List, add, stage and remove customization bundles."),
        discussion: translated(
            paragraphs: """
                A bundle is a zip archive with files for an app. Its manifest.json is read when it is added. Devices see a \
                bundle with the stage current; those of testers see the one that is assigned to them.

                EXAMPLE
                  outpost-server bundle add shop logo.zip --name logo --bundle-version 1
                  outpost-server bundle stage shop logo 1 current
                """),
        subcommands: [ListBundles.self, AddBundle.self, StageBundle.self, DefaultBundle.self, RemoveBundle.self])

    struct ListBundles: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: translated("List the bundles of an application."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost-server bundle list shop
                    """))

        @OptionGroup var options: ServerOptions

        @Argument(help: .text("The application."))
        var app: String

        func run() async throws {
            let rows = try await options.withServer { server in
                let application = try await server.application(app)
                return try await server.state.bundles.bundles(of: application.id).map { BundleRow($0) }
            }
            if options.json { return Console.json(rows) }
            Console.table(
                ["NAME", "VERSION", "STAGE", "DEFAULT", "BYTES", "ADDED"],
                rows.map {
                    [
                        $0.name, $0.version, $0.stage, $0.isDefault ? translated("yes") : translated("no"),
                        "\($0.size)",
                        $0.createdAt.formatted(.iso8601),
                    ]
                })
        }
    }

    struct AddBundle: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add", abstract: translated("Add a bundle, which is staged."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost-server bundle add shop logo.zip --name logo --bundle-version 1
                    """))

        @OptionGroup var options: ServerOptions

        @Argument(help: .text("The application."))
        var app: String

        @Argument(help: .text("The zip archive."), completion: .file())
        var file: String

        @Option(help: .text("The name of the bundle.", valueName: "name"))
        var name: String

        // The root command owns `--version`.
        @Option(
            name: .customLong("bundle-version"), help: .text("The version of the bundle.", valueName: "version"))
        var bundleVersion: String

        func run() async throws {
            guard let source = FileHandle(forReadingAtPath: file) else {
                throw ServerFailure(
                    "\(file) cannot be read.", advice: "Check the path and its permissions.", status: .misused)
            }
            let reader = BundleFile(source)
            let size = try await reader.size()
            let row = try await options.withServer { server in
                let application = try await server.application(app)
                let key = DeviceBundleKey(application: application.id, name: name, version: bundleVersion)
                let record = try await BundleIntake(store: server.state.bundles).add(
                    key, fileExtension: "zip", ByteStream(length: size) { try await reader.next() })
                try await server.audit("bundle.add", "\(app)/\(name):\(bundleVersion)")
                return BundleRow(record)
            }
            if options.json { return Console.json(row) }
            Console.line("The bundle \(name):\(bundleVersion) is staged. Show it to devices with 'bundle stage'.")
        }
    }

    struct StageBundle: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "stage", abstract: translated("Set the stage of a bundle."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost-server bundle stage shop logo 1 testers
                    """))

        @OptionGroup var options: ServerOptions

        @Argument(help: .text("The application."))
        var app: String

        @Argument(help: .text("The name of the bundle."))
        var name: String

        @Argument(help: .text("The version of the bundle.", valueName: "version"))
        var bundleVersion: String

        @Argument(help: .text("The stage: staged, testers or current."))
        var stage: String

        func run() async throws {
            guard let stage = DeviceBundleStage(rawValue: stage) else {
                throw ServerFailure(
                    "There is no stage '\(stage)'.", advice: "Use staged, testers or current.", status: .misused)
            }
            let row = try await options.withServer { server in
                let key = try await server.bundle(app, name, version: bundleVersion)
                let record = try await server.state.bundles.setStage(stage, key)
                try await server.audit("bundle.stage", "\(app)/\(name):\(bundleVersion)")
                return BundleRow(record)
            }
            if options.json { return Console.json(row) }
            Console.line("The bundle \(name):\(bundleVersion) has the stage \(row.stage).")
        }
    }

    struct DefaultBundle: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "default", abstract: translated("Make a bundle the default of its application."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost-server bundle default shop logo 1
                    """))

        @OptionGroup var options: ServerOptions

        @Argument(help: .text("The application."))
        var app: String

        @Argument(help: .text("The name of the bundle."))
        var name: String

        @Argument(help: .text("The version of the bundle.", valueName: "version"))
        var bundleVersion: String

        func run() async throws {
            try await options.withServer { server in
                let key = try await server.bundle(app, name, version: bundleVersion)
                try await server.state.bundles.setDefault(key, of: key.application)
                try await server.audit("bundle.default", "\(app)/\(name):\(bundleVersion)")
            }
            if options.json { return Console.json(["default": "\(name):\(bundleVersion)"]) }
            Console.line("The bundle \(name):\(bundleVersion) is the default of \(app).")
        }
    }

    struct RemoveBundle: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove", abstract: translated("Remove a bundle."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost-server bundle remove shop logo 1
                    """))

        @OptionGroup var options: ServerOptions

        @Argument(help: .text("The application."))
        var app: String

        @Argument(help: .text("The name of the bundle."))
        var name: String

        @Argument(help: .text("The version of the bundle.", valueName: "version"))
        var bundleVersion: String

        func run() async throws {
            try await options.withServer { server in
                let key = try await server.bundle(app, name, version: bundleVersion)
                _ = try await server.state.bundles.remove(key)
                try await server.audit("bundle.remove", "\(app)/\(name):\(bundleVersion)")
            }
            if options.json { return Console.json(["removed": "\(name):\(bundleVersion)"]) }
            Console.line("The bundle \(name):\(bundleVersion) is removed.")
        }
    }
}

/// A bundle in the output of `bundle`.
private struct BundleRow: Encodable, Sendable {
    var name: String
    var version: String
    var stage: String
    var isDefault: Bool
    var size: Int64
    var manifest: String?
    var createdAt: Date

    init(_ record: DeviceBundleRecord) {
        name = record.key.name
        version = record.key.version
        stage = record.stage.rawValue
        isDefault = record.isDefault
        size = record.size
        manifest = record.manifest
        createdAt = record.createdAt.date
    }
}

/// The file of a bundle that is added.
private actor BundleFile {
    private static let chunk = 256 << 10

    private let file: FileHandle

    init(_ file: FileHandle) { self.file = file }

    func size() throws -> Int64 {
        let size = try file.seekToEnd()
        try file.seek(toOffset: 0)
        return Int64(size)
    }

    func next() throws -> [UInt8]? {
        guard let data = try file.read(upToCount: Self.chunk), !data.isEmpty else { return nil }
        return Array(data)
    }
}

extension OpenServer {
    /// Returns the key of a bundle.
    func bundle(_ app: String, _ name: String, version: String) async throws -> DeviceBundleKey {
        let application = try await application(app)
        let key = DeviceBundleKey(application: application.id, name: name, version: version)
        guard try await state.bundles.bundle(key) != nil else {
            throw ServerFailure(
                "There is no bundle '\(name):\(version)'.",
                advice: "List the bundles with 'outpost-server bundle list \(app)'.")
        }
        return key
    }
}
