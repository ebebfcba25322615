// swift-tools-version: 6.2
import PackageDescription

// Warnings are errors in CI only: a newer compiler's new warning must not stop an app from building.
let settings: [SwiftSetting] =
    Context.environment["OUTPOST_WARNINGS_AS_ERRORS"] == nil ? [] : [.treatAllWarnings(as: .error)]

// With OUTPOST_OPTIMISED, the libraries of a debug build that compute are optimised as those of a release are. In
// continuous integration, tests then work on fast code, and simulation and fuzzers need no build of their own.
let optimised: [SwiftSetting] =
    Context.environment["OUTPOST_OPTIMISED"] == nil
    ? []
    : [.unsafeFlags(["-O", "-whole-module-optimization", "-num-threads", "2", "-disable-batch-mode"])]
let computing: Set = ["Ground", "Keys", "Language", "Storage", "Sync"]

// MARK: How a target is declared

/// A library in `Sources/GROUP/NAME`. It imports only targets on lower floors, and only groups above its own; the
/// tests of the architecture read floor and group from here.
func library(_ name: String, floor: Int, group: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Sources/\(group)/\(name)",
        swiftSettings: settings + (computing.contains(group) ? optimised : []))
}

/// A program in `Sources/GROUP/NAME`.
func program(
    _ name: String, floor: Int, group: String, _ dependencies: [Target.Dependency], resources: [Resource] = []
) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: "Sources/\(group)/\(name)", resources: resources,
        swiftSettings: settings)
}

/// A library of the system, with a module map in `Sources/C/NAME`.
func system(_ name: String, _ pkgConfig: String, apt package: String) -> Target {
    .systemLibrary(name: name, path: "Sources/C/\(name)", pkgConfig: pkgConfig, providers: [.apt([package])])
}

/// C of this package, in `Sources/C/NAME`.
func clang(_ name: String) -> Target {
    .target(
        name: name, path: "Sources/C/\(name)", cSettings: optimised.isEmpty ? [] : [.unsafeFlags(["-O2"])])
}

/// Tests in `Tests/NAME`.
func tests(_ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: settings)
}

/// A library in `Tests/NAME` that tests share.
func support(
    _ name: String, _ dependencies: [Target.Dependency] = [], _ further: [SwiftSetting] = []
) -> Target {
    .target(name: name, dependencies: dependencies, path: "Tests/\(name)", swiftSettings: settings + further)
}

/// A program in `Tests/NAME` that tests start: a process of its own is killed, or works beside others.
func probe(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, path: "Tests/\(name)", swiftSettings: settings)
}

// MARK: Products of other packages

/// A product that only server, tools and the NIO transport use. An app resolves its package only with the trait
/// `Server`.
func server(_ name: String, _ package: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: ["Server"]))
}

let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
// The C interface of the same SQLite library, for reading columns without making values of them.
let grdbSQLite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let coreMetrics = Target.Dependency.product(name: "CoreMetrics", package: "swift-metrics")
let metrics = Target.Dependency.product(name: "Metrics", package: "swift-metrics")
let metricsTestKit = Target.Dependency.product(name: "MetricsTestKit", package: "swift-metrics")
let tracing = Target.Dependency.product(name: "Tracing", package: "swift-distributed-tracing")
let inMemoryTracing = Target.Dependency.product(name: "InMemoryTracing", package: "swift-distributed-tracing")

let argumentParser = server("ArgumentParser", "swift-argument-parser")
let asn1 = server("SwiftASN1", "swift-asn1")
let asyncHTTPClient = server("AsyncHTTPClient", "async-http-client")
let hummingbird = server("Hummingbird", "hummingbird")
let hummingbirdCore = server("HummingbirdCore", "hummingbird")
let hummingbirdHTTP2 = server("HummingbirdHTTP2", "hummingbird")
let jwtKit = server("JWTKit", "jwt-kit")
let nioCore = server("NIOCore", "swift-nio")
let nioEmbedded = server("NIOEmbedded", "swift-nio")
let nioHTTP1 = server("NIOHTTP1", "swift-nio")
let nioHTTP2 = server("NIOHTTP2", "swift-nio-http2")
let nioHTTPTypes = server("NIOHTTPTypes", "swift-nio-extras")
let nioHTTPTypesHTTP1 = server("NIOHTTPTypesHTTP1", "swift-nio-extras")
let nioPosix = server("NIOPosix", "swift-nio")
let nioSSL = server("NIOSSL", "swift-nio-ssl")
let nioTLS = server("NIOTLS", "swift-nio")
let serviceLifecycle = server("ServiceLifecycle", "swift-service-lifecycle")
let x509 = server("X509", "swift-certificates")
let yams = server("Yams", "Yams")
/// libpq, which the server alone links.
let postgres = Target.Dependency.target(name: "CPostgres", condition: .when(traits: ["Server"]))

// MARK: The house

/// Libraries that only this package uses.
let inner: [Target] = [
    library("SafeFiles", floor: 1, group: "Ground"),

    library(
        "ServerState", floor: 4, group: "Mobile",
        ["EncryptedSQLite", "ErrorCodes", "SafeFiles", "Secrets", crypto, grdb]),
    library("PostgresClient", floor: 3, group: "Databases", ["ErrorCodes", "Secrets", postgres]),
    library(
        "ServerStatePostgres", floor: 5, group: "Mobile",
        ["ErrorCodes", "PostgresClient", "Secrets", "ServerState", crypto]),
    library("ServerStateConformance", floor: 5, group: "Mobile", ["ErrorCodes", "Secrets", "ServerState"]),
    library(
        "MobileProtocol", floor: 6, group: "Mobile",
        ["ErrorCodes", "ODataHTTP", "ODataModel", "ODataQuery", "ODataService", httpTypes]),
    library(
        "MobileServer", floor: 7, group: "Mobile",
        [
            "CZlib", "ErrorCodes", "MobileProtocol", "ODataClient", "ODataFormat", "ODataHTTP", "ODataModel",
            "ODataQuery", "ODataSQL", "ODataServer", "ODataService", "ODataStore", "ODataTransportNIO", "SafeFiles",
            "Secrets", "ServerMetrics", "ServerState", "Supportability", asn1, crypto, cryptoExtras, httpTypes, jwtKit,
            logging, metrics, nioCore, nioSSL, tracing, x509, yams,
        ]),
]

/// Libraries that are products.
let libraries: [Target] = [
    library("ErrorCodes", floor: 0, group: "Ground"),
    library("Supportability", floor: 2, group: "Ground", ["CZlib", "ErrorCodes", "SafeFiles", logging]),
    library("Secrets", floor: 2, group: "Ground", ["CLinux", "ErrorCodes", "SafeFiles", crypto, cryptoExtras]),

    library("ODataModel", floor: 1, group: "Language", ["CLibXML2", "ErrorCodes"]),
    library("ODataQuery", floor: 2, group: "Language", ["ErrorCodes", "ODataModel"]),
    library("ODataFormat", floor: 3, group: "Language", ["ErrorCodes", "ODataModel"]),

    library(
        "EncryptedSQLite", floor: 3, group: "Keys", ["Secrets", "CAESGCM", "CSQLite", "ErrorCodes", crypto]),
    library("DataVault", floor: 3, group: "Keys", ["Secrets", "CLinux", "ErrorCodes", crypto]),
    library("SecureStorage", floor: 4, group: "Keys", ["DataVault", "EncryptedSQLite", "ErrorCodes", "Secrets", grdb]),

    library("ODataService", floor: 4, group: "Protocol", ["ODataModel", "ODataQuery", "ErrorCodes"]),
    library("ODataHTTP", floor: 5, group: "Protocol", ["ErrorCodes", "ODataFormat", "ODataService", httpTypes]),
    library(
        "ODataCache", floor: 5, group: "Protocol",
        ["ErrorCodes", "ODataFormat", "ODataService", "DataVault", "Secrets", crypto, httpTypes]),
    library(
        "ODataClient", floor: 6, group: "Protocol",
        [
            "ErrorCodes", "ODataHTTP", "ODataCache", "SafeFiles", "Supportability", crypto, httpTypes, logging, metrics,
            tracing,
        ]),
    library(
        "ODataServer", floor: 6, group: "Protocol",
        [
            "ErrorCodes", "ODataHTTP", "Secrets", "CLinux", "CZlib", asn1, crypto, httpTypes, logging, metrics, jwtKit,
            x509, hummingbird, hummingbirdCore, hummingbirdHTTP2, nioCore, nioHTTP1, nioHTTP2, nioHTTPTypes,
            nioHTTPTypesHTTP1, nioSSL, serviceLifecycle,
        ]),

    library(
        "ServerMetrics", floor: 6, group: "Protocol",
        ["ErrorCodes", "ODataHTTP", "ODataService", "Supportability", httpTypes, coreMetrics, tracing]),

    library(
        "ODataTransportNIO", floor: 6, group: "Transport",
        [
            "ErrorCodes", "ODataHTTP", "CZlib", crypto, httpTypes, asyncHTTPClient, nioCore, nioPosix, nioHTTP1,
            nioHTTP2,
            nioSSL, nioTLS, x509,
        ]),
    library("ODataTransportURLSession", floor: 6, group: "Transport", ["ODataHTTP", httpTypes]),
    library(
        "ODataTransportConformance", floor: 7, group: "Transport",
        ["ErrorCodes", "ODataHTTP", "ODataServer", httpTypes, nioCore, nioPosix, nioSSL]),

    library(
        "ODataSQL", floor: 5, group: "Storage",
        [
            "DataVault", "ErrorCodes", "ODataFormat", "ODataService", "EncryptedSQLite", "SafeFiles", "Secrets", crypto,
            grdb, grdbSQLite,
        ]),
    library(
        "ODataStore", floor: 6, group: "Storage",
        ["ODataFormat", "ODataService", "ODataSQL", "Secrets", crypto, grdb]),
    library(
        "ODataDatabases", floor: 7, group: "Storage",
        ["ErrorCodes", "ODataService", "ODataSQL", "ODataStore", "SafeFiles", grdb, grdbSQLite]),

    library(
        "OfflineOData", floor: 6, group: "Sync",
        ["ErrorCodes", "ODataHTTP", "ODataSQL", "EncryptedSQLite", "SafeFiles", "Secrets", crypto, grdb, httpTypes]),

    library(
        "ObjectAPI", floor: 7, group: "Objects",
        [
            "ErrorCodes", "ODataModel", "ODataQuery", "ODataService", "ODataSQL", "OfflineOData", "Secrets", logging,
        ]),

    library(
        "MobileClient", floor: 7, group: "Mobile",
        [
            "DataVault", "ErrorCodes", "MobileProtocol", "ODataClient", "ODataHTTP", "ODataModel", "ODataService",
            "Secrets", crypto, httpTypes,
        ]),

    library(
        "OutpostKit", floor: 7, group: "Kit",
        [
            "DataVault", "ErrorCodes", "ODataCache", "ODataClient", "ODataHTTP", "ODataModel", "ODataQuery",
            "ODataService", "ODataSQL", "ODataTransportURLSession", "OfflineOData", "Secrets",
        ]),

    library(
        "ODataGenerator", floor: 5, group: "Generate", ["ErrorCodes", "ODataModel", "ODataQuery", "SafeFiles"]),
]

let programs: [Target] = [
    // Texts of the tools in the language of the person.
    library("ToolLanguage", floor: 8, group: "Tools", ["ErrorCodes", argumentParser]),
    program("odata-generate", floor: 9, group: "Generate", ["ODataGenerator", "ODataModel"]),
    program(
        "outpost", floor: 9, group: "Tools",
        [
            "OfflineOData", "ODataCache", "ODataClient", "ODataDatabases", "ODataGenerator", "ODataServer", "ODataSQL",
            "ODataStore", "ODataTransportNIO", "DataVault", "EncryptedSQLite", "SafeFiles", "Secrets", "ServerMetrics",
            "Supportability", "ToolLanguage", argumentParser, httpTypes, logging, yams,
        ]),
    program(
        "outpost-server", floor: 9, group: "Tools",
        [
            "ErrorCodes", "MobileProtocol", "MobileServer", "ODataClient", "ODataDatabases", "ODataHTTP", "ODataModel",
            "ODataQuery", "ODataSQL", "ODataServer", "ODataService", "ODataStore", "ODataTransportNIO", "SafeFiles",
            "Secrets", "ServerMetrics", "ServerState", "Supportability", "ToolLanguage", argumentParser, crypto, grdb,
            httpTypes, logging, yams,
        ]),
    program(
        "reference-service", floor: 9, group: "Tools",
        [
            "ODataHTTP", "ODataModel", "ODataQuery", "ODataServer", "ODataService", "ODataSQL", "ODataStore",
            argumentParser, httpTypes,
        ],
        resources: [
            .embedInCode("Resources/metadata.xml"), .embedInCode("Resources/data.json"),
            .embedInCode("Resources/crm.xml"),
        ]),
]

let foundations: [Target] = [
    system("CLibXML2", "libxml-2.0", apt: "libxml2-dev"),
    system("CSQLite", "sqlite3", apt: "libsqlite3-dev"),
    system("CZlib", "zlib", apt: "zlib1g-dev"),
    system("CPostgres", "libpq", apt: "libpq-dev"),
    clang("CLinux"),
    clang("CAESGCM"),
]

// MARK: Tests

let testing: [Target] = [
    support("TestCorpus"),
    // The models that tests declare by hand.
    support("TestModels", ["ODataModel"]),
    // Rules that every provider keeps.
    support("ProviderChecks", ["ODataModel", "ODataQuery", "ODataService"]),
    // The pages of the documentation, whose code tests compile and run.
    support("DocumentationPages"),
    // The texts in the sources of the tools, and the ones without a German counterpart.
    support("LanguageChecks"),
    // Programs of this machine, such as curl, as clients that nobody here wrote.
    support("ForeignPrograms"),
    // A disk that fails, beneath SQLite: for the tests of everything that must survive that.
    support("FaultInjection", ["CSQLite"]),
    // Faults on wires: a transport and a proxy that drop, delay, cut and double messages.
    support("WireFaults", ["ODataHTTP", httpTypes, nioCore, nioPosix]),
    // PostgreSQL servers that tests start, stop, kill and promote, and a proxy that cuts the way to them.
    support("PostgresServers"),
    // A service and its clients in virtual time: no failure loses or doubles a change.
    support(
        "Simulation",
        [
            "OfflineOData", "ODataClient", "ODataDatabases", "EncryptedSQLite", "FaultInjection", "Secrets", grdb,
            httpTypes,
        ], optimised),

    probe("LogProbe", ["Supportability"]),
    probe("VaultProbe", ["DataVault", "Secrets"]),
    probe("CacheProbe", ["ODataCache", "Secrets"]),
    probe("StoreProbe", ["OfflineOData", "ODataSQL"]),
    // Works on a store for a given time, and measures its use of memory and files.
    probe("Soak", ["OfflineOData", "ODataClient", "ODataDatabases", "ODataSQL", "Secrets", grdb]),
    probe("simulate", ["Simulation", argumentParser]),

    tests("ArchitectureTests", ["DocumentationPages", "ForeignPrograms"]),
    tests("SupportabilityTests", ["Supportability", "LogProbe", logging]),
    tests("ODataModelTests", ["ODataModel", "TestCorpus", "TestModels"]),
    tests("ODataQueryTests", ["ODataQuery", "TestCorpus", "TestModels"]),
    tests(
        "ODataGeneratorTests",
        [
            "ODataGenerator", "ODataService", "ODataSQL", "ODataStore", "ODataQuery", "TestCorpus", "ODataClient",
            "ODataHTTP", "ODataServer", "ODataTransportNIO", "OfflineOData",
        ], exclude: ["Documents"]),
    tests("ODataFormatTests", ["ODataFormat", "TestCorpus", "TestModels"]),
    tests("SafeFilesTests", ["SafeFiles"]),
    tests("SecretsTests", ["Secrets"]),
    tests("EncryptedSQLiteTests", ["EncryptedSQLite", "FaultInjection", "Secrets", "CSQLite", crypto]),
    tests("DataVaultTests", ["DataVault", "Secrets", "VaultProbe", crypto]),
    tests("PostgresClientTests", ["ErrorCodes", "PostgresClient", "PostgresServers", "Secrets"]),
    tests("SecureStorageTests", ["SecureStorage", "DataVault", "EncryptedSQLite", "ErrorCodes", "Secrets", grdb]),
    tests("ODataSQLTests", ["ODataSQL", "ProviderChecks", "TestCorpus", "TestModels", grdb]),
    tests("ODataStoreTests", ["ODataSQL", "ODataStore", "ProviderChecks", "TestCorpus", "TestModels", grdb]),
    tests("ODataDatabasesTests", ["ODataDatabases", "ODataSQL", "ODataStore", "ProviderChecks", grdb]),
    tests("ODataCacheTests", ["ODataCache", "CacheProbe", "Secrets", "DataVault", httpTypes]),
    tests("ODataHTTPTests", ["ODataHTTP", "TestCorpus", httpTypes]),
    tests(
        "ODataClientTests",
        [
            "DataVault", "EncryptedSQLite", "ErrorCodes", "ODataCache", "ODataClient", "ODataDatabases",
            "ODataGenerator",
            "ODataServer", "ODataSQL", "ODataTransportConformance", "ODataTransportNIO", "OfflineOData", "Secrets",
            "SecureStorage", "ServerMetrics", "Supportability", "WireFaults", httpTypes, logging, metricsTestKit,
            inMemoryTracing,
        ]),
    tests(
        "ODataServerTests",
        [
            "ODataServer", "ODataClient", "ODataTransportNIO", "ForeignPrograms", httpTypes, jwtKit, logging,
            metricsTestKit,
        ]),
    tests(
        "ServerMetricsTests",
        [
            "ODataHTTP", "ODataServer", "ODataService", "ODataTransportNIO", "ServerMetrics", "Supportability",
            httpTypes, metrics, tracing,
        ]),
    tests(
        "ODataTransportNIOTests",
        [
            "ODataClient", "ODataTransportNIO", "ODataTransportConformance", "ODataServer", "ForeignPrograms",
            "WireFaults", asyncHTTPClient, crypto, httpTypes, nioCore, nioEmbedded, nioPosix, nioSSL, x509,
        ]),
    tests(
        "ODataTransportURLSessionTests", ["ODataTransportURLSession", "ODataTransportConformance", httpTypes]),
    tests(
        "OfflineODataTests",
        [
            "OfflineOData", "ODataClient", "ODataDatabases", "ODataServer", "ODataSQL", "ODataStore",
            "ODataTransportNIO",
            "DataVault", "DocumentationPages",
            "EncryptedSQLite", "FaultInjection", "OutpostKit", "Secrets", "Soak", "StoreProbe", "TestCorpus", grdb,
            httpTypes,
        ], exclude: ["Fixtures"]),
    tests(
        "ObjectAPITests",
        [
            "ObjectAPI", "ErrorCodes", "ODataClient", "ODataGenerator", "ODataHTTP", "ODataModel", "ODataQuery",
            "ODataService",
            "ODataSQL", "ODataStore", "OfflineOData", "WireFaults", httpTypes,
        ], exclude: ["Documents", "Refused", "Scope.csv"]),
    tests("SimulationTests", ["Simulation", "ODataHTTP", httpTypes]),
    tests(
        "ConformanceTests",
        [
            "reference-service", "ODataClient", "ODataHTTP", "ODataModel", "ODataQuery", "ODataServer", "ODataFormat",
            "ODataService", "ODataDatabases", "ODataSQL", "ODataStore", "ODataTransportNIO", "ForeignPrograms",
            "WireFaults", httpTypes,
        ], exclude: ["Clients"]),
    tests("MobileProtocolTests", ["MobileProtocol", "ODataGenerator", "ODataModel"]),
    tests(
        "MobileClientTests",
        [
            "DataVault", "ErrorCodes", "MobileClient", "MobileProtocol", "MobileServer", "ODataClient", "ODataHTTP",
            "ODataModel", "ODataServer", "ODataService", "ODataTransportNIO", "Secrets", "ServerState", httpTypes,
        ]),
    tests("ServerStateTests", ["Secrets", "ServerState", "ServerStateConformance", grdb]),
    tests(
        "ServerStatePostgresTests",
        [
            "PostgresClient", "PostgresServers", "Secrets", "ServerState", "ServerStateConformance",
            "ServerStatePostgres",
        ]),
    tests(
        "MobileServerTests",
        [
            "outpost", "DocumentationPages", "ErrorCodes", "ForeignPrograms", "MobileProtocol", "MobileServer",
            "ODataClient",
            "ODataDatabases", "ODataHTTP", "ODataModel", "ODataQuery", "ODataSQL", "ODataServer", "ODataService",
            "ODataStore", "ODataTransportNIO", "OfflineOData", "Secrets", "ServerMetrics", "ServerState", "WireFaults",
            asn1, crypto, grdb, httpTypes, jwtKit, logging, metrics, nioCore, nioSSL, x509,
        ], exclude: ["Server/Files"]),
    tests(
        "outpostServerTests",
        [
            "outpost", "outpost-server", "ErrorCodes", "ForeignPrograms", "LanguageChecks", "MobileProtocol",
            "MobileServer", "ODataClient", "ODataHTTP", "ODataServer", "ODataService", "ODataTransportNIO",
            "OfflineOData", "Secrets", "ServerState", "ToolLanguage", "WireFaults", argumentParser, crypto, grdb,
            httpTypes, logging,
        ]),
    tests(
        "outpostTests",
        [
            "outpost", "OfflineOData", "ODataClient", "ODataServer", "ODataSQL", "ODataStore", "DocumentationPages",
            "ForeignPrograms", "LanguageChecks", "Secrets", "ToolLanguage", "WireFaults", grdb, httpTypes, jwtKit,
        ]),
]

/// The build tool for packages of apps. An optimised build leaves it out: nothing in this package uses it, and SwiftPM
/// compiles the tools of a plugin with all their libraries a second time.
let plugins: [Target] =
    optimised.isEmpty
    ? [.plugin(name: "ODataGeneratorPlugin", capability: .buildTool(), dependencies: ["odata-generate"])] : []

/// The only test targets of the package, if `OUTPOST_TESTS` names some, with commas between them.
let chosenTests = Context.environment["OUTPOST_TESTS"]?.split(separator: ",").map(String.init)

let package = Package(
    name: "outpost",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: libraries.map { .library(name: $0.name, targets: [$0.name]) }
        + [.executable(name: "odata-generate", targets: ["odata-generate"])]
        + plugins.map { .plugin(name: $0.name, targets: [$0.name]) },
    traits: [
        .trait(name: "Server", description: "Server, tools and the NIO transport, with the packages that they need.")
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.7.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.3.0"),
        // With the trait `Server`:
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.2.0"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.10.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        // For this package alone:
        .package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"),
    ],
    targets: foundations + inner + libraries + programs + plugins
        + testing.filter { $0.type != .test || chosenTests?.contains($0.name) ?? true }
)
