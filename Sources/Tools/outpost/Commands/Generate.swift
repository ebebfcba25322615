import ArgumentParser
import Foundation
import ODataGenerator
import ODataModel
import ToolLanguage

struct Generate: AsyncParsableCommand, ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate",
        abstract: translated("Generate Swift types for a service, with queries that the compiler checks."),
        discussion: translated(
            paragraphs: """
                The source of the metadata is a file in XML or JSON, the address of a document, or the root of a \
                service. Obsolete files of an earlier run are removed; other files are not touched.

                The configuration file is JSON. It may have name, access (public, package, internal), sets, types, \
                navigation (selected, contained, all), operations (all, none), files and names. The last one replaces \
                generated names: {"names": {"Shop.Order": "PurchaseOrder", "Shop.Order/Freight": "charge"}}. Options \
                on the command line take precedence.

                EXAMPLE
                  outpost generate metadata.xml --output Sources/Shop/Generated
                  outpost generate https://host/service/ --output Shop \\
                    --sets Orders --sets Customers
                  outpost generate metadata.xml --output Shop \\
                    --config generator.json --access internal
                  outpost generate metadata.xml --output Crm --objects \\
                    --annotations objects.xml
                """))

    @Argument(help: .text("A file or an address.")) var source: String

    @Option(
        name: .shortAndLong, help: .text("The folder for the files; it is created if it is missing."),
        completion: .directory)
    var output: String

    @Option(
        name: .customLong("sets"),
        help: .text(
            """
            An entity set, singleton or operation to generate, with the types that it needs. Separate several by \
            commas, or repeat the option; the default is all.
            """, valueName: "names"))
    var sets: [String] = []

    @OptionGroup var annotations: AnnotationOptions

    @Option(name: .customLong("config"), help: .text("A configuration file."), completion: .file())
    var configurationFile: String?

    @Option(help: .text("The name of the service: the generated type is <name>Service.")) var name: String?

    @Option(help: .text("The access level: public, package or internal.")) var access: GeneratorConfiguration.Access?

    @Option(help: .text("The number of files for the types; the default is one file for each type.")) var files: Int?

    @Flag(help: .text("Write business objects of an object package instead of a service.")) var objects = false

    @OptionGroup var service: ServiceOptions
    @OptionGroup var secrets: SecretOptions

    @Flag(help: .text("Report as JSON.")) var json = false

    func run() async throws {
        let configuration = try merged()
        let (result, code) = try await ProgressLine.during("Reading metadata") { line in
            var options = CSDLReaderOptions(references: .custom)
            options.annotationDocuments = try annotations.documents()
            let result = try await MetadataSource(source, service).read(options)
            line.update("Generating")
            let generator = try Generator(result, annotations: options.annotationDocuments, configuration)
            return (result, try generator.generate())
        }
        let written: GeneratedCode.Written
        do {
            written = try code.write(to: URL(fileURLWithPath: output))
        } catch {
            throw Failure(
                message: "\(output) cannot be written to: \(error.systemReason).",
                advice: "Give a folder of your own with --output.")
        }
        if json {
            print(JSONText(Report(code, written, warnings: result.warnings.map(\.description))).text)
            return
        }
        for warning in result.warnings {
            Terminal.error("\(Terminal.yellow("warning:", on: .error)) \(warning.description)")
        }
        tell(code, written)
    }

    /// Returns the configuration file with the options in place of its settings.
    private func merged() throws -> GeneratorConfiguration {
        var configuration = GeneratorConfiguration()
        if let configurationFile {
            let data = try NamedFile.contents(of: configurationFile)
            do {
                configuration = try JSONDecoder().decode(GeneratorConfiguration.self, from: Data(data))
            } catch let error as DecodingError {
                throw Failure(
                    message: "\(configurationFile): \(GeneratorConfiguration.explain(error))",
                    advice: "List the settings: outpost generate --help", status: .misused)
            }
        }
        let wanted = sets.flatMap { $0.split(separator: ",") }.map { $0.trimmingCharacters(in: .whitespaces) }
        if !wanted.isEmpty { configuration.sets = wanted }
        if let name { configuration.name = name }
        if let access { configuration.access = access }
        if let files { configuration.files = files }
        if objects { configuration.objects = true }
        return configuration
    }

    /// The number of omitted elements that are listed.
    private static let shownOmissions = 10

    private func tell(_ code: GeneratedCode, _ written: GeneratedCode.Written) {
        print(
            """
            \(code.serviceName): \(Terminal.plural(code.structuredTypes, "structured type")), \
            \(Terminal.plural(code.enumTypes, "enumeration")), \(Terminal.plural(code.files.count, "file")), \
            \(Terminal.plural(code.lineCount, "line")) in \(output)
            """)
        print(
            """
            \(Terminal.plural(written.changed.count, "file")) written, \
            \(Terminal.number(code.files.count - written.changed.count)) unchanged, \
            \(Terminal.number(written.removed.count)) removed
            """)
        guard !code.omissions.isEmpty else { return }
        print("\(Terminal.plural(code.omissions.count, "element")) left out:")
        for omission in code.omissions.prefix(Self.shownOmissions) {
            print("  \(omission.description)")
        }
        if code.omissions.count > Self.shownOmissions { print("  … (all with --json)") }
    }

    private struct Report: Encodable {
        var service: String
        var structuredTypes: Int
        var enumTypes: Int
        var lines: Int
        var files: [String]
        var changed: [String]
        var removed: [String]
        var omissions: [Item]
        var warnings: [String]

        struct Item: Encodable {
            var element: String
            var reason: String
        }

        init(_ code: GeneratedCode, _ written: GeneratedCode.Written, warnings: [String]) {
            service = code.serviceName
            structuredTypes = code.structuredTypes
            enumTypes = code.enumTypes
            lines = code.lineCount
            files = code.files.map(\.path)
            changed = written.changed
            removed = written.removed
            omissions = code.omissions.map { Item(element: $0.element, reason: $0.reason) }
            self.warnings = warnings
        }
    }
}

extension GeneratorConfiguration.Access: ExpressibleByArgument {}
