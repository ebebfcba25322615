import ArgumentParser
import Foundation
import HTTPTypes
import ODataCache
import ODataClient
import ODataHTTP
import ODataModel
import OfflineOData
import Supportability
import ToolLanguage

struct Metadata: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "metadata",
        abstract: translated("Look at, check, convert and compare metadata documents."),
        discussion: translated(
            paragraphs: """
                Metadata are given as a file in XML or JSON, as the address of a document, or as the root of a \
                service. The directory of a clone stands for its service.

                EXAMPLE
                  outpost metadata show https://host/service/
                  outpost metadata validate metadata.xml
                  outpost metadata convert metadata.xml --to json --output metadata.json
                  outpost metadata diff old.xml new.xml
                  outpost metadata show shop Orders
                  outpost metadata diff shop https://host/service/
                  outpost metadata vocabulary
                """),
        subcommands: [Show.self, Validate.self, Convert.self, Diff.self, Vocabulary.self])

    struct Show: AsyncParsableCommand, ServiceCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: translated("List the entity sets, singletons and types of a service."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost metadata show shop
                      outpost metadata show https://host/service/
                      outpost metadata show metadata.xml Orders
                    """))

        @Argument(help: .text("A file, an address, or the directory of a clone.")) var source: String
        @Argument(help: .text("An entity set, singleton or type to look into.")) var element: String?
        @OptionGroup var service: ServiceOptions
        @OptionGroup var key: KeyOptions
        @Flag(help: .text("Report as JSON.")) var json = false

        func run() async throws {
            let model = try await MetadataSource(source, service, key: key).read().model
            if let element {
                try show(element, of: model)
                return
            }
            let summary = ModelSummary(model)
            if json {
                print(JSONText(summary).text)
                return
            }
            print(
                """
                OData \(summary.version), \(Terminal.plural(summary.entityTypes, "entity type")), \
                \(Terminal.plural(summary.complexTypes, "complex type")), \
                \(Terminal.plural(summary.enumTypes, "enumeration type")), \
                \(Terminal.plural(summary.operations, "operation"))
                """)
            var table = Table(["Set", "Type", "Key", "Properties", "Navigation"])
            for set in summary.sets {
                table.add([
                    set.name, set.type, set.key.joined(separator: ", "), String(set.properties),
                    set.navigation.joined(separator: ", "),
                ])
            }
            if !summary.sets.isEmpty { Terminal.write(table.rendered()) }
            if !summary.imports.isEmpty {
                print("Operations: \(summary.imports.joined(separator: ", "))")
            }
        }

        private struct Element: Encodable {
            struct Property: Encodable {
                var name: String
                var type: String
                var isNullable: Bool
                var isKey: Bool
                var label: String?
            }

            var type: String
            var properties: [Property]
            var navigationProperties: [Property]

            init(_ shape: TypeShape) {
                type = shape.name.description
                let key = Set(shape.key.map(\.path))
                properties = shape.properties.map {
                    Property(
                        name: $0.name, type: $0.type.description, isNullable: $0.isNullable,
                        isKey: key.contains($0.name), label: $0.label)
                }
                navigationProperties = shape.navigationProperties.map {
                    Property(
                        name: $0.name, type: Show.type(of: $0), isNullable: $0.isNullable, isKey: false,
                        label: $0.label)
                }
            }
        }

        private static func type(of property: NavigationProperty) -> String {
            property.isCollection ? "Collection(\(property.target))" : property.target.description
        }

        private func show(_ element: String, of model: EntityDataModel) throws {
            let type = model.entitySet(element)?.type ?? model.singleton(element)?.type ?? QualifiedName(element)
            guard let shape = type.flatMap({ model.shape($0) }) else {
                throw Failure(
                    message: "The metadata declare no set, singleton or type \(element).",
                    advice: """
                        List the names: outpost metadata show \(SecretRedaction().redacted(source).shellQuoted)
                        """)
            }
            if json {
                print(JSONText(Element(shape)).text)
                return
            }
            var table = Table(["Property", "Type", "Null", "Label"])
            let key = Set(shape.key.map(\.path))
            for property in shape.properties {
                table.add([
                    (key.contains(property.name) ? "* " : "") + property.name, property.type.description,
                    translated(property.isNullable ? "yes" : "no"), property.label ?? "",
                ])
            }
            for property in shape.navigationProperties {
                table.add([
                    property.name, Self.type(of: property), translated(property.isNullable ? "yes" : "no"),
                    property.label ?? "",
                ])
            }
            Terminal.write(table.rendered())
        }
    }

    struct Validate: AsyncParsableCommand, ServiceCommand {
        static let configuration = CommandConfiguration(
            commandName: "validate",
            abstract: translated("Check that metadata can be read, and list their faults."),
            discussion: translated(
                paragraphs: """
                    Warns of unreadable elements, which are omitted, and of undeclared names and paths. Ends with 0 if \
                    the document can be read, with or without warnings, and with 1 if it cannot.

                    EXAMPLE
                      outpost metadata validate metadata.xml
                      outpost metadata validate metadata.xml --strict --references
                      outpost metadata validate metadata.xml --annotations objects.xml
                    """))

        @Argument(help: .text("A file, an address, or the directory of a clone.")) var source: String
        @OptionGroup var service: ServiceOptions
        @OptionGroup var key: KeyOptions
        @Flag(help: .text("Refuse invalid facets, invalid names, and names that differ only in case."))
        var strict = false
        @Flag(help: .text("Read the documents it refers to as well.")) var references = false
        @OptionGroup var annotations: AnnotationOptions
        @Flag(help: .text("Report as JSON.")) var json = false

        func run() async throws {
            var options = CSDLReaderOptions(
                terms: .warned, names: .warned, caseConflicts: .warned, warnsOfDanglingReferences: true)
            if strict {
                options.names = .refused
                options.caseConflicts = .refused
                options.facets = .strict
            }
            options.references = references ? .all : .ignored
            options.annotationDocuments = try annotations.documents()
            let result = try await MetadataSource(source, service, key: key).read(options)
            if json {
                print(JSONText(Report(result)).text)
                return
            }
            for warning in result.warnings {
                print("\(Terminal.yellow("warning:")) \(warning.description)")
            }
            let summary = ModelSummary(result.model)
            print(
                """
                Valid: OData \(summary.version), \(Terminal.plural(summary.entityTypes, "entity type")), \
                \(Terminal.plural(result.warnings.count, "warning")).
                """)
        }

        private struct Report: Encodable {
            var version: String
            var entityTypes: Int
            var warnings: [Warning]

            init(_ result: CSDLReader.Result) {
                let summary = ModelSummary(result.model)
                version = summary.version
                entityTypes = summary.entityTypes
                warnings = result.warnings.map {
                    Warning(source: $0.source, line: $0.line, column: $0.column, message: $0.message)
                }
            }

            struct Warning: Encodable {
                var source: String?
                var line: Int
                var column: Int
                var message: String
            }
        }
    }

    struct Convert: AsyncParsableCommand, ServiceCommand {
        static let configuration = CommandConfiguration(
            commandName: "convert",
            abstract: translated("Write metadata in another version or format."),
            discussion: translated(
                paragraphs: """
                    Elements that the version or format cannot express are omitted and named on standard error. \
                    Annotations of a file become part of the document.

                    EXAMPLE
                      outpost metadata convert metadata.xml --to json
                      outpost metadata convert metadata.json --to 2.0 --output metadata.xml
                    """))

        @Argument(help: .text("A file, an address, or the directory of a clone.")) var source: String
        @Option(help: .text("4.01, 4.0, 3.0, 2.0, 1.0, or json.", valueName: "version")) var to: String
        @Option(
            name: .shortAndLong, help: .text("The file to write; standard output when left out."), completion: .file())
        var output: String?
        @OptionGroup var service: ServiceOptions
        @OptionGroup var annotations: AnnotationOptions
        @OptionGroup var key: KeyOptions
        @Flag(help: .text("Report warnings and omissions as JSON; needs --output.")) var json = false

        mutating func validate() throws {
            guard Self.format(to) != nil else {
                throw ValidationError(translated("--to is 4.01, 4.0, 3.0, 2.0, 1.0 or json."))
            }
            guard !json || output != nil else { throw ValidationError(translated("--json goes with --output.")) }
        }

        private struct Report: Encodable {
            var output: String?
            var bytes: Int
            var warnings: [String]
            var omissions: [String]
        }

        private static func format(_ text: String) -> CSDLWriter.Format? {
            text.lowercased() == "json" ? .json : ODataVersion(rawValue: text).map { .xml($0) }
        }

        func run() async throws {
            guard let format = Self.format(to) else { return }
            var options = CSDLReaderOptions(references: .ignored)
            options.annotationDocuments = try annotations.documents()
            let result = try await MetadataSource(source, service, key: key).read(options)
            let document = CSDLWriter.document(result.model, as: format)
            if !json {
                for warning in result.warnings {
                    Terminal.error(
                        "\(Terminal.yellow("warning:", on: .error)) \(warning.description)")
                }
                for omission in document.omissions {
                    Terminal.error("\(Terminal.yellow("left out:", on: .error)) \(omission)")
                }
            }
            guard let output else {
                if case .json = format {
                    print(TerminalText(json: String(decoding: document.bytes, as: UTF8.self)))
                } else {
                    Terminal.write(document.bytes + [UInt8(ascii: "\n")], isDocument: true)
                }
                return
            }
            try NamedFile.write(document.bytes, to: output)
            guard json else { return }
            print(
                JSONText(
                    Report(
                        output: output, bytes: document.bytes.count, warnings: result.warnings.map(\.description),
                        omissions: document.omissions)
                ).text)
        }
    }

    struct Diff: AsyncParsableCommand, ServiceCommand {
        static let configuration = CommandConfiguration(
            commandName: "diff",
            abstract: translated("Compare two versions of metadata, and say whether clients can continue."),
            discussion: translated(
                paragraphs: """
                    Ends with 0 if clients of the older version can continue with the newer one, and with 1 if they \
                    cannot.

                    EXAMPLE
                      outpost metadata diff old.xml new.xml
                      outpost metadata diff old.xml https://host/service/ --json
                    """))

        @Argument(help: .text("The older version: a file, an address, or a clone.")) var old: String
        @Argument(help: .text("The newer version: a file, an address, or a clone.")) var new: String
        @OptionGroup var service: ServiceOptions
        @OptionGroup var key: KeyOptions
        @Flag(help: .text("Report as JSON.")) var json = false

        func run() async throws {
            let older = try await MetadataSource(old, service, key: key).read().model
            let newer = try await MetadataSource(new, service, key: key).read().model
            let differences = newer.differences(from: older)
            let breaking = differences.count { !$0.isCompatible }
            if json {
                print(JSONText(differences.map(Line.init)).text)
            } else {
                for difference in differences {
                    let mark = difference.isCompatible ? Terminal.green("compatible") : Terminal.red("incompatible")
                    print(
                        "\(mark)  \(difference.path) \(difference.kindText): \(difference.detailText) "
                            + Terminal.dim("(\(difference.reasonText))"))
                }
                print(
                    differences.isEmpty
                        ? "No differences."
                        : "\(Terminal.plural(differences.count, "difference")), \(Terminal.number(breaking)) incompatible."
                )
            }
            if breaking > 0 { throw QuietExit(status: .failed) }
        }

        private struct Line: Encodable {
            var path: String
            var kind: String
            var detail: String
            var isCompatible: Bool
            var reason: String

            init(_ difference: ModelDifference) {
                path = difference.path
                kind = difference.kind.rawValue
                detail = difference.detail
                isCompatible = difference.isCompatible
                reason = difference.reason
            }
        }
    }
}

extension Metadata {
    struct Vocabulary: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "vocabulary",
            abstract: translated("Print the vocabulary of object packages, \(ObjectsVocabulary.namespace)."),
            discussion: translated(
                paragraphs: """
                    The document declares the terms that metadata, or a file for --annotations, may have for packages \
                    of business objects.

                    EXAMPLE
                      outpost metadata vocabulary
                      outpost metadata vocabulary --json
                      outpost metadata vocabulary --output Outpost.Objects.V1.xml
                    """))

        @Option(
            name: .shortAndLong, help: .text("The file to write; standard output when left out."), completion: .file())
        var output: String?
        @Flag(help: .text("Print the document as CSDL JSON.")) var json = false

        func run() async throws {
            var bytes = Array(ObjectsVocabulary.document.utf8)
            if json { bytes = CSDLWriter.document(try CSDLReader.read(bytes), as: .json).bytes }
            if let output { return try NamedFile.write(bytes, to: output) }
            guard json else { return Terminal.write(bytes, isDocument: true) }
            print(TerminalText(json: String(decoding: bytes, as: UTF8.self)))
        }
    }
}

/// The place of metadata: a file, the address of a document, the root of a service, or the directory of a clone.
struct MetadataSource {
    private let text: String
    private let service: ServiceOptions
    /// The key of a clone.
    private let key: KeyOptions?

    init(_ text: String, _ service: ServiceOptions, key: KeyOptions? = nil) {
        self.text = text
        self.service = service
        self.key = key
    }

    /// Reads them; documents they refer to are read as the options have it.
    func read(_ options: CSDLReaderOptions = CSDLReaderOptions(references: .ignored)) async throws -> CSDLReader.Result
    {
        guard isURL(text) else {
            if let model = try await cloneModel() {
                return try await CSDLReader.parse(CSDLWriter.xml(model, version: model.version), options: options) {
                    _ in nil
                }
            }
            let bytes = try contents(of: text)
            return try await CSDLReader.parse(bytes, options: options) { reference in
                if isURL(reference.uri) { return try? await fetch(reference.uri) }
                let folder = URL(fileURLWithPath: text).deletingLastPathComponent()
                return try? contents(of: folder.appendingPathComponent(reference.uri).path)
            }
        }
        let address = documentAddress
        let bytes = try await fetch(address)
        return try await CSDLReader.parse(bytes, options: options) { reference in
            guard let url = URL(string: reference.uri, relativeTo: URL(string: address)) else { return nil }
            // No link leads from https to http.
            guard url.scheme?.lowercased() != "http" || !address.lowercased().hasPrefix("https:") else { return nil }
            return try? await fetch(url.absoluteString)
        }
    }

    /// The model of the service of a clone; `nil` for anything but a directory.
    private func cloneModel() async throws -> EntityDataModel? {
        var isDirectory: ObjCBool = false
        guard let key, FileManager.default.fileExists(atPath: text, isDirectory: &isDirectory), isDirectory.boolValue
        else { return nil }
        let store = try await OfflineStore.open(at: text, protection: try key.protection(ofCloneIn: text))
        defer { try? store.close() }
        return store.serviceModel
    }

    private func isURL(_ text: String) -> Bool {
        let text = text.lowercased()
        return text.hasPrefix("http://") || text.hasPrefix("https://")
    }

    /// A root becomes the address of its metadata.
    private var documentAddress: String {
        let path = text.prefix { $0 != "?" && $0 != "#" }
        let isDocument = [".xml", ".json", ".edmx", ".csdl"].contains { path.lowercased().hasSuffix($0) }
        if isDocument || path.contains("$metadata") { return text }
        return "\(path)\(path.hasSuffix("/") ? "" : "/")$metadata\(text[path.endIndex...])"
    }

    private func contents(of path: String) throws -> [UInt8] {
        try NamedFile.contents(of: path, advice: "Give a file, or an address with https://.")
    }

    private func fetch(_ address: String) async throws -> [UInt8] {
        let connector = try service.connector(to: isURL(text) ? text : "")
        do {
            let bytes = try await connector.document(at: address, named: isURL(text) ? text : nil)
            try await connector.close()
            return bytes
        } catch {
            try? await connector.close()
            throw error
        }
    }
}

extension Connector {
    /// Returns a metadata document unchanged.
    ///
    /// - Parameter named: the address of the person, if there is one. Header fields and credentials go only
    ///   to its origin.
    fileprivate func document(at address: String, named: String?) async throws -> [UInt8] {
        guard let url = URLComponents(string: address), url.user == nil, let text = url.string else {
            throw TransportError.invalidURL(address)
        }
        let (response, bytes) = try await reader(named: named, or: address).document(
            at: text, accept: "application/xml, application/json;q=0.9", limit: CSDLReader.maxBytes)
        switch response.status.code {
        case 200..<300: return bytes
        case 300..<400:
            throw MetadataError.redirected(
                url: address, to: response.headerFields[.location] ?? translated("an address it does not name"))
        case 401: throw MetadataError.unauthorized(url: address)
        case 403: throw MetadataError.forbidden(url: address)
        case 404, 410: throw MetadataError.notFound(url: address)
        default:
            throw Failure(message: "\(SecretRedaction().redacted(address)) answered \(response.status.code).")
        }
    }

    /// A client of the host that the person named; of another one, a client that has nothing to show.
    private func reader(named: String?, or address: String) throws -> ODataClient {
        var configuration = configuration
        if named == nil { (configuration.headers, configuration.options) = ([:], [:]) }
        guard var root = URLComponents(string: named ?? address) else { throw TransportError.invalidURL(address) }
        (root.path, root.query, root.fragment) = ("/", nil, nil)
        var carrier: any HTTPTransport = transport
        // A cached response to a request with a key or a tenant in a field is not for other requests.
        if configuration.metadataCache != nil, configuration.headers.isEmpty, let cache = ToolCache.responses {
            carrier = CachingTransport(transport, cache: cache)
        }
        return try ODataClient(
            serviceRoot: root.string ?? address, transport: carrier,
            authentication: named == nil ? .none : authentication, configuration: configuration)
    }
}
