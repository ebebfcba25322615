import ODataModel

/// A Swift package with an app for a service: an offline store, typed proxies, a small command-line program, tests and a
/// page that explains them.
///
/// ```swift
/// let model = try CSDLReader.read(bytes)
/// let options = AppPackage.Options(
///     serviceRoot: "https://host/service/", dependency: .path("../outpost"), sets: ["Orders"])
/// let app = try AppPackage(named: "shop", of: model, options)
/// try app.write(to: URL(fileURLWithPath: "shop"))
/// ```
///
/// The package resolves only the packages of an app: no networking library, no server, no argument parser. The same
/// metadata and options always result in the same bytes.
public struct AppPackage: Hashable, Sendable {
    /// The place from which the new package takes Outpost.
    public enum Dependency: Hashable, Sendable {
        /// A folder, absolute or relative to the new package.
        case path(String)
        /// A Git repository, and the lowest version.
        case repository(url: String, from: String)
    }

    /// The options of a new package.
    public struct Options: Hashable, Sendable {
        /// The root of the service, to which the program connects unless it is told another one.
        public var serviceRoot: String
        /// The place from which the package takes Outpost.
        public var dependency: Dependency
        /// The names of the included entity sets and singletons; `nil` for all.
        public var sets: [String]?

        /// Creates options.
        public init(serviceRoot: String, dependency: Dependency, sets: [String]? = nil) {
            self.serviceRoot = serviceRoot
            self.dependency = dependency
            self.sets = sets
        }
    }

    /// The name of the package and of its program.
    public let name: String
    /// The name of the library with the store and the proxies, such as `ShopKit`.
    public let library: String
    /// The type that opens the store, such as `ShopStore`.
    public let storeType: String
    /// The names of the entity sets that the store keeps.
    public let sets: [String]
    /// The entity set of the test that creates an entity without a network and uploads it; `nil` if no set is
    /// simple enough.
    public let testedSet: String?
    /// All files, sorted by path.
    public let files: [GeneratedFile]
    /// The generated proxies, which are among ``files``.
    public let code: GeneratedCode

    /// Generates a package.
    ///
    /// - Parameters:
    ///   - name: The name of the package: letters, digits, `-` and `_` of ASCII, beginning with a letter, at most 50.
    ///   - model: The metadata of the service.
    ///   - options: The options.
    /// - Throws: ``GeneratorError``; `appName` if the name cannot be used.
    public init(named name: String, of model: EntityDataModel, _ options: Options) throws(GeneratorError) {
        let names = try AppNames(name)
        var configuration = GeneratorConfiguration(name: names.prefix, sets: options.sets)
        configuration.names = try names.overrides(model, configuration)
        let translator = try Translator(model, configuration)
        let code = try Generator(model, configuration).generate()
        let content = AppContent(names: names, options: options, translator: translator)
        self.name = name
        library = names.library
        storeType = names.store
        sets = content.sets.map(\.name)
        testedSet = content.sample?.set.name
        self.code = code
        var files = content.files(configuration)
        files += code.files.map {
            GeneratedFile(path: "\(names.generatedFolder)/\($0.path)", text: $0.text)
        }
        self.files = files.sorted { $0.path < $1.path }
    }
}
