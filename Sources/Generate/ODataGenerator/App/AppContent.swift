import Foundation
import ODataModel

/// The files of a new package other than the proxies. The text of each is in an extension of its own.
struct AppContent {
    /// An entity set of the app.
    struct KeptSet {
        /// Its name in the metadata.
        let name: String
        /// Its property of the service.
        let member: String
    }

    let names: AppNames
    let options: AppPackage.Options
    /// The type with the entity sets, such as `ShopService`.
    let serviceType: String
    /// The type with the metadata, such as `ShopMetadata`.
    let metadataType: String
    /// The entity sets that the store keeps: those that have a key, a name for URLs, and can be read as a whole.
    let sets: [KeptSet]
    /// The entity that a test creates.
    let sample: AppSample?

    init(names: AppNames, options: AppPackage.Options, translator: Translator) {
        self.names = names
        self.options = options
        serviceType = translator.names.service
        metadataType = translator.names.metadata
        let kept = translator.model.container.entitySets.filter {
            translator.subset.isWanted($0.name) && translator.subset.contains($0.type) && $0.isAddressable
                && !$0.requiresFilter && $0.name.isSimpleIdentifier
                && translator.model.shape($0.type)?.key.isEmpty == false
        }.sorted { $0.name < $1.name }
        sets = kept.map { KeptSet(name: $0.name, member: SwiftName.quoted(translator.names.set($0.name))) }
        sample = kept.lazy.compactMap { AppSample($0, translator) }.first
    }

    /// All files.
    ///
    /// - Parameter configuration: The configuration of the proxies, which is kept for later runs of the generator.
    func files(_ configuration: GeneratorConfiguration) -> [GeneratedFile] {
        [
            GeneratedFile(path: "Package.swift", text: manifest),
            GeneratedFile(path: "README.md", text: readme),
            GeneratedFile(path: ".gitignore", text: ignored),
            GeneratedFile(path: "odata-generator.json", text: Self.text(of: configuration)),
            GeneratedFile(path: "Sources/\(names.library)/\(names.store).swift", text: store),
            GeneratedFile(path: "Sources/\(names.package)/Program.swift", text: program),
            GeneratedFile(path: "Tests/\(names.library)Tests/\(names.store)Tests.swift", text: tests),
        ]
    }

    /// What `outpost generate --config` reads.
    private static func text(of configuration: GeneratorConfiguration) -> String {
        struct File: Encodable {
            var name: String?
            var sets: [String]?
            var names: [String: String]?
        }
        let file = File(
            name: configuration.name, sets: configuration.sets,
            names: configuration.names.isEmpty ? nil : configuration.names)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Texts can always be encoded.
        let data = (try? encoder.encode(file)) ?? Data()
        return String(decoding: data, as: UTF8.self) + "\n"
    }

    /// The imports of a file, in alphabetical order.
    static func imports(_ modules: String...) -> String {
        modules.sorted().map { "import \($0)" }.joined(separator: "\n")
    }

    private var ignored: String {
        """
        .build/
        .swiftpm/
        *.store/

        """
    }
}
