import ArgumentParser
import Foundation
import ODataClient
import ODataGenerator
import ODataHTTP
import ODataModel
import ToolLanguage

struct New: AsyncParsableCommand, ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: translated("Create an app package for a service: offline store, typed proxies, program and tests."),
        discussion: translated(
            paragraphs: """
                The metadata come from the service, or from a file. The package holds a library with an encrypted \
                offline store and the types of the service, and a small program for the terminal. Its tests need no \
                network. It builds as it is: cd NAME && swift test.

                The package takes Outpost from the folder of --path, from the repository of --repository, or from the \
                folder 'outpost' beside the new package. Passwords, tokens, header fields and options are used for \
                reading the metadata and are not written into the package.

                EXAMPLE
                  outpost new shop --service https://host/service/ --path ~/src/outpost
                  outpost new shop --service https://host/service/ --sets Orders,Customers
                  outpost new shop --metadata metadata.xml --json
                """))

    @Argument(help: .text("The name of the package and of its program: letters, digits, '-' and '_'."))
    var name: String

    @Option(name: .customLong("service"), help: .text("The root of the service.", valueName: "url"))
    var serviceRoot: String?

    @Option(
        help: .text("A file with the metadata, which are then not read from the service.", valueName: "file"),
        completion: .file())
    var metadata: String?

    @Option(
        name: .customLong("path"),
        help: .text("The folder of the package Outpost, such as a checkout.", valueName: "folder"),
        completion: .directory)
    var packagePath: String?

    @Option(help: .text("The Git repository of the package Outpost.", valueName: "url"))
    var repository: String?

    @Option(
        name: .customLong("sets"),
        help: .text(
            "An entity set or singleton that the app needs; several by commas, or repeated. All if left out.",
            valueName: "names"))
    var sets: [String] = []

    @Option(
        name: .shortAndLong,
        help: .text("The folder of the new package; NAME if left out.", valueName: "folder"),
        completion: .directory)
    var output: String?

    @Flag(help: .text("Write into a folder that is not empty. Files that exist are never replaced."))
    var force = false

    @OptionGroup var service: ServiceOptions
    @OptionGroup var secrets: SecretOptions

    @Flag(help: .text("Report as JSON."))
    var json = false

    /// The service of a package without one: a database that `outpost serve` serves on this machine.
    private static let localService = "http://127.0.0.1:8080/"

    mutating func validate() throws {
        guard serviceRoot != nil || metadata != nil else {
            throw ValidationError(
                translated("Name the service with --service URL, or its metadata with --metadata FILE."))
        }
        guard packagePath == nil || repository == nil else {
            throw ValidationError(translated("--path and --repository exclude each other."))
        }
    }

    func run() async throws {
        let folder = URL(fileURLWithPath: output ?? name).standardizedFileURL
        if !force { try requireEmpty(folder) }
        let root = try checkedRoot()
        let dependency = try dependency(of: folder)
        let app = try await ProgressLine.during("Reading metadata") { line in
            let source = MetadataSource(metadata ?? serviceRoot ?? "", service)
            let model = try await source.read(CSDLReaderOptions(references: .custom)).model
            line.update("Generating")
            let wanted = sets.flatMap { $0.split(separator: ",") }.map { $0.trimmingCharacters(in: .whitespaces) }
            return try AppPackage(
                named: name, of: model,
                AppPackage.Options(
                    serviceRoot: root, dependency: dependency, sets: wanted.isEmpty ? nil : wanted))
        }
        try write(app, to: folder)
        if json {
            print(JSONText(Report(app, folder.path)).text)
        } else {
            tell(app)
        }
    }

    // MARK: Checks

    /// Refuses a folder that has something in it, and a file.
    private func requireEmpty(_ folder: URL) throws {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder.path, isDirectory: &isFolder) else { return }
        guard isFolder.boolValue else {
            throw Failure(
                message: "\(shown) is a file.", advice: "Name another folder with --output.", status: .misused)
        }
        guard try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty else {
            throw Failure(
                message: "\(shown) is not empty.",
                advice: "Name another folder with --output, or add to this one with --force.", status: .misused)
        }
    }

    /// The folder as the person has named it.
    private var shown: String { output ?? name }

    /// The root of the service without the query and the step of the metadata, if the address is one that a client
    /// takes.
    private func checkedRoot() throws -> String {
        guard let serviceRoot else { return Self.localService }
        var root = String(serviceRoot.prefix { $0 != "?" && $0 != "#" })
        if root.hasSuffix("$metadata") { root.removeLast("$metadata".count) }
        guard let url = URLComponents(string: root), let scheme = url.scheme?.lowercased(),
            ["http", "https"].contains(scheme), url.host?.isEmpty == false, url.user == nil,
            (try? ServiceRoot(root)) != nil
        else {
            throw Failure(
                message: "\(serviceRoot) is not the root of a service.",
                advice: "Give an address such as https://host/service/", status: .misused)
        }
        return root
    }

    /// The place of Outpost, for a package in a folder.
    private func dependency(of folder: URL) throws -> AppPackage.Dependency {
        if let repository { return .repository(url: repository, from: OutpostProduct.version) }
        guard let packagePath else { return .path("../outpost") }
        let package = URL(fileURLWithPath: packagePath).standardizedFileURL
        guard FileManager.default.fileExists(atPath: package.appendingPathComponent("Package.swift").path) else {
            throw Failure(
                message: "\(packagePath) holds no Package.swift.",
                advice: "Give the folder of a checkout of Outpost with --path.", status: .misused)
        }
        return .path(Self.path(of: package, from: folder))
    }

    /// The way from one folder to another: by `..` if they are in one home, else absolute.
    static func path(of target: URL, from folder: URL) -> String {
        let target = target.pathComponents
        let folder = folder.pathComponents
        let shared = zip(target, folder).prefix { $0 == $1 }.count
        // Only the root is shared.
        guard shared > 1 else { return target.dropFirst().reduce("") { "\($0)/\($1)" } }
        let steps = Array(repeating: "..", count: folder.count - shared) + target.dropFirst(shared)
        return steps.isEmpty ? "." : steps.joined(separator: "/")
    }

    // MARK: Writing

    private func write(_ app: AppPackage, to folder: URL) throws {
        if let first = app.existingFiles(in: folder).first {
            throw Failure(
                message: "\(shown)/\(first) exists; nothing was written.",
                advice: "Name another folder with --output, or move the file away.", status: .misused)
        }
        do {
            try app.write(to: folder)
        } catch {
            throw Failure(
                message: "\(shown) cannot be written to: \(error.systemReason).",
                advice: "Give a folder of your own with --output.")
        }
    }

    private func tell(_ app: AppPackage) {
        print(
            """
            Created \(Terminal.bold(shown)): \(app.library) with \
            \(Terminal.plural(app.code.structuredTypes, "structured type")) and \
            \(Terminal.plural(app.sets.count, "set")), the program \(app.name), and tests.
            """)
        if packagePath == nil, repository == nil {
            print("It takes Outpost from the folder 'outpost' beside it; change that in \(shown)/Package.swift.")
        }
        if serviceRoot == nil {
            print("Its service is \(Self.localService); change that in \(app.storeType).swift.")
        }
        print("Go on with: cd \(shown.shellQuoted) && swift test")
    }

    private struct Report: Encodable {
        var name: String
        var folder: String
        var library: String
        var store: String
        var service: String
        var sets: [String]
        var testedSet: String?
        var structuredTypes: Int
        var enumTypes: Int
        var files: [String]

        init(_ app: AppPackage, _ folder: String) {
            name = app.name
            self.folder = folder
            library = app.library
            store = app.storeType
            service = app.code.serviceName
            sets = app.sets
            testedSet = app.testedSet
            structuredTypes = app.code.structuredTypes
            enumTypes = app.code.enumTypes
            files = app.files.map(\.path)
        }
    }
}
