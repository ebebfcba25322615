import ODataModel

/// The names of a new package: of its modules, and of the types that its own code declares.
struct AppNames {
    /// The name of the package, and of its program.
    let package: String
    /// The beginning of the names of types, such as `Shop`.
    let prefix: String
    /// The library, such as `ShopKit`.
    var library: String { "\(prefix)Kit" }
    /// The type that opens the store.
    var store: String { "\(prefix)Store" }
    /// The beginning of the names of environment variables, such as `SHOP`.
    var environment: String { package.uppercased().replacing("-", with: "_") }
    /// The folder of the proxies.
    var generatedFolder: String { "Sources/\(library)/Generated" }

    /// - Throws: ``GeneratorError/appName(_:reason:)``.
    init(_ name: String) throws(GeneratorError) {
        let isWord = name.utf8.allSatisfy {
            switch $0 {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard isWord, name.utf8.first.map({ $0 > UInt8(ascii: "9") && $0 != UInt8(ascii: "_") }) == true,
            name.utf8.count <= Self.maxLength
        else {
            throw .appName(
                name,
                reason: "a name begins with a letter and has letters, digits, '-' and '_', \(Self.maxLength) at most")
        }
        package = name
        prefix = SwiftName.type(name)
        let modules = [name.replacing("-", with: "_"), prefix, "\(prefix)Kit"].map { $0.lowercased() }
        guard !modules.contains(where: Self.modules.contains), !SwiftName.keywords.contains(name) else {
            throw .appName(name, reason: "a module that the app uses has that name")
        }
    }

    /// The most characters of a name.
    static let maxLength = 50

    /// The names of the configuration, which keep generated types apart from the types that the app's own code uses.
    func overrides(
        _ model: EntityDataModel, _ configuration: GeneratorConfiguration
    ) throws(GeneratorError) -> [String: String] {
        let translator = try Translator(model, configuration)
        var scope = NameScope(reserved: Self.usedTypes)
        _ = scope.take(store)
        let types = (translator.subset.structuredTypes + translator.subset.enumTypes).map {
            (element: $0, name: translator.names.type($0))
        }
        for (_, name) in types { _ = scope.take(name) }
        var overrides: [String: String] = [:]
        for (element, name) in types where Self.usedTypes.contains(name) || name == store {
            overrides[element.description] = scope.name(prefix + name)
        }
        return overrides
    }

    /// The types of libraries and of the app itself that the code of the app names, beyond those that every generated
    /// type leaves alone.
    private static let usedTypes: Set<String> = [
        "ArraySlice", "Authentication", "CommandLine", "DefiningQuery", "EncryptionKey", "FileSecretStore",
        "KeychainSecretStore",
        "ODataClient", "OfflineError", "OfflineStore", "SecretName", "SecretStore", "ServiceDefinition", "StoreService",
        "Suite", "Test", "URLSessionTransport", "UsageError",
    ]

    /// The modules of the app's dependencies and of the toolchain, and names that the compiler refuses, in small letters.
    private static let modules: Set<String> = [
        "main", "swift", "foundation", "foundationnetworking", "foundationessentials", "dispatch", "testing", "xctest",
        "synchronization", "observation", "glibc", "musl", "darwin", "cxx", "regexbuilder", "distributed", "builtin",
        "crypto", "cryptoextras", "swiftasn1", "grdb", "grdbsqlite", "httptypes", "httptypesfoundation", "logging",
        "coremetrics", "metrics", "tracing", "instrumentation", "servicecontextmodule", "clibxml2", "csqlite", "czlib",
        "clinux", "caesgcm", "outpost", "outpostkit", "datavault", "encryptedsqlite", "errorcodes", "odatacache",
        "odataclient", "odatadatabases", "odataformat", "odatagenerator", "odatahttp", "odatamodel", "odataquery",
        "odataserver", "odataservice", "odatasql", "odatastore", "odatatransportnio", "odatatransporturlsession",
        "offlineodata", "safefiles", "secrets", "securestorage", "supportability", "test", "tests",
    ]
}
