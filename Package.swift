// swift-tools-version: 6.2
import PackageDescription

// Warnings are errors in CI only: a newer compiler's new warning must not stop an app from building.
let settings: [SwiftSetting] =
    Context.environment["OUTPOST_WARNINGS_AS_ERRORS"] == nil ? [] : [.treatAllWarnings(as: .error)]

let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")

let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")

let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let asyncHTTPClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioTLS = Target.Dependency.product(name: "NIOTLS", package: "swift-nio")
let nioHTTP2 = Target.Dependency.product(name: "NIOHTTP2", package: "swift-nio-http2")
let nioHTTPTypes = Target.Dependency.product(name: "NIOHTTPTypes", package: "swift-nio-extras")
let nioHTTPTypesHTTP1 = Target.Dependency.product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let serviceLifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let hummingbirdHTTP2 = Target.Dependency.product(name: "HummingbirdHTTP2", package: "hummingbird")
let metrics = Target.Dependency.product(name: "Metrics", package: "swift-metrics")
let tracing = Target.Dependency.product(name: "Tracing", package: "swift-distributed-tracing")
let asn1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")
let x509 = Target.Dependency.product(name: "X509", package: "swift-certificates")
let jwtKit = Target.Dependency.product(name: "JWTKit", package: "jwt-kit")
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
// The C interface of the same SQLite library, for reading columns without making values of them.
let grdbSQLite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")

let package = Package(
    name: "outpost",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "ErrorCodes", targets: ["ErrorCodes"]),
        .library(name: "Supportability", targets: ["Supportability"]),
        .library(name: "ODataModel", targets: ["ODataModel"]),
        .library(name: "ODataQuery", targets: ["ODataQuery"]),
        .library(name: "ODataFormat", targets: ["ODataFormat"]),
        .library(name: "Secrets", targets: ["Secrets"]),
        .library(name: "EncryptedSQLite", targets: ["EncryptedSQLite"]),
        .library(name: "DataVault", targets: ["DataVault"]),
        .library(name: "SecureStorage", targets: ["SecureStorage"]),
        .library(name: "ODataService", targets: ["ODataService"]),
        .library(name: "ODataSQL", targets: ["ODataSQL"]),
        .library(name: "ODataStore", targets: ["ODataStore"]),
        .library(name: "ODataDatabases", targets: ["ODataDatabases"]),
        .library(name: "ODataHTTP", targets: ["ODataHTTP"]),
        .library(name: "ODataCache", targets: ["ODataCache"]),
        .library(name: "ODataClient", targets: ["ODataClient"]),
        .library(name: "ODataServer", targets: ["ODataServer"]),
        .library(name: "ODataTransportNIO", targets: ["ODataTransportNIO"]),
        .library(name: "ODataTransportURLSession", targets: ["ODataTransportURLSession"]),
        .library(name: "ODataTransportConformance", targets: ["ODataTransportConformance"]),
        .library(name: "OfflineOData", targets: ["OfflineOData"]),
        .library(name: "ODataGenerator", targets: ["ODataGenerator"]),
        .executable(name: "odata-generate", targets: ["odata-generate"]),
        .plugin(name: "ODataGeneratorPlugin", targets: ["ODataGeneratorPlugin"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.7.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.3.0"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.2.0"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.10.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"),
    ],
    targets: [
        // floor 0
        .target(name: "ErrorCodes", swiftSettings: settings),
        .target(name: "ODataModel", dependencies: ["CLibXML2", "ErrorCodes"], swiftSettings: settings),
        .systemLibrary(name: "CLibXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
        .target(name: "SafeFiles", swiftSettings: settings),
        // floor 1
        .target(
            name: "Supportability", dependencies: ["CZlib", "ErrorCodes", "SafeFiles", logging], swiftSettings: settings
        ),
        .target(name: "ODataQuery", dependencies: ["ErrorCodes", "ODataModel"], swiftSettings: settings),
        .target(name: "CLinux"),
        .target(
            name: "Secrets", dependencies: ["CLinux", "ErrorCodes", "SafeFiles", crypto, cryptoExtras],
            swiftSettings: settings),
        // floor 2
        .target(name: "ODataFormat", dependencies: ["ErrorCodes", "ODataModel"], swiftSettings: settings),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "CAESGCM"),
        .target(
            name: "EncryptedSQLite", dependencies: ["Secrets", "CAESGCM", "CSQLite", "ErrorCodes", crypto],
            swiftSettings: settings),
        .target(
            name: "DataVault", dependencies: ["Secrets", "CLinux", "ErrorCodes", crypto], swiftSettings: settings),
        // floor 3
        .target(
            name: "ODataService", dependencies: ["ODataModel", "ODataQuery", "ErrorCodes"], swiftSettings: settings),
        .target(
            name: "SecureStorage", dependencies: ["DataVault", "EncryptedSQLite", "ErrorCodes", "Secrets", grdb],
            swiftSettings: settings),
        // floor 4
        .target(
            name: "ODataHTTP", dependencies: ["ErrorCodes", "ODataFormat", "ODataService", httpTypes],
            swiftSettings: settings),
        .target(
            name: "ODataSQL",
            dependencies: [
                "DataVault", "ErrorCodes", "ODataFormat", "ODataService", "EncryptedSQLite", "SafeFiles", "Secrets",
                crypto, grdb, grdbSQLite,
            ],
            swiftSettings: settings),
        .target(
            name: "ODataCache",
            dependencies: ["ErrorCodes", "ODataFormat", "ODataService", "DataVault", "Secrets", crypto, httpTypes],
            swiftSettings: settings),
        // floor 5
        .target(
            name: "ODataStore",
            dependencies: ["ODataFormat", "ODataService", "ODataSQL", "Secrets", crypto, grdb], swiftSettings: settings),
        .target(
            name: "ODataClient",
            dependencies: [
                "ErrorCodes", "ODataHTTP", "ODataCache", "SafeFiles", "Supportability", crypto, httpTypes, logging,
                metrics, tracing,
            ],
            swiftSettings: settings),
        .target(
            name: "ODataServer",
            dependencies: [
                "ErrorCodes", "ODataHTTP", "Secrets", "CLinux", "CZlib", asn1, crypto, httpTypes, logging, metrics,
                jwtKit, x509, hummingbird, hummingbirdCore, hummingbirdHTTP2, nioCore, nioHTTP1, nioHTTP2, nioHTTPTypes,
                nioHTTPTypesHTTP1, nioSSL, serviceLifecycle,
            ],
            swiftSettings: settings),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .target(
            name: "ODataTransportNIO",
            dependencies: [
                "ErrorCodes", "ODataHTTP", "CZlib", crypto, httpTypes, asyncHTTPClient, nioCore, nioPosix, nioHTTP1,
                nioHTTP2, nioSSL, nioTLS, x509,
            ],
            swiftSettings: settings),
        .target(
            name: "ODataTransportURLSession", dependencies: ["ODataHTTP", httpTypes], swiftSettings: settings),
        .target(
            name: "ODataGenerator", dependencies: ["ErrorCodes", "ODataModel", "SafeFiles"], swiftSettings: settings),
        // floor 6
        .target(
            name: "ODataDatabases",
            dependencies: ["ErrorCodes", "ODataService", "ODataSQL", "ODataStore", "SafeFiles", grdb, grdbSQLite],
            swiftSettings: settings),
        .target(
            name: "OfflineOData",
            dependencies: [
                "ErrorCodes", "ODataHTTP", "ODataSQL", "EncryptedSQLite", "SafeFiles", "Secrets", crypto, grdb,
                httpTypes,
            ],
            swiftSettings: settings),
        .target(
            name: "ODataTransportConformance",
            dependencies: ["ErrorCodes", "ODataHTTP", "ODataServer", httpTypes, nioCore, nioPosix, nioSSL],
            swiftSettings: settings),
        // floor 7
        .executableTarget(
            name: "outpost",
            dependencies: [
                "OfflineOData", "ODataCache", "ODataClient", "ODataDatabases", "ODataGenerator", "ODataServer",
                "ODataSQL", "ODataStore", "ODataTransportNIO", "DataVault", "EncryptedSQLite", "SafeFiles", "Secrets",
                "Supportability",
                argumentParser, httpTypes,
                logging,
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "reference-service",
            dependencies: [
                "ODataHTTP", "ODataModel", "ODataQuery", "ODataServer", "ODataService", "ODataSQL", "ODataStore",
                argumentParser,
            ],
            resources: [.embedInCode("Resources/metadata.xml"), .embedInCode("Resources/data.json")],
            swiftSettings: settings),
        .executableTarget(
            name: "odata-generate", dependencies: ["ODataGenerator", "ODataModel"], swiftSettings: settings),
        .plugin(name: "ODataGeneratorPlugin", capability: .buildTool(), dependencies: ["odata-generate"]),
        // tests
        .target(name: "TestCorpus", path: "Tests/TestCorpus", swiftSettings: settings),
        // Programs of this machine, such as curl, as clients that nobody here wrote.
        .target(name: "ForeignPrograms", path: "Tests/ForeignPrograms", swiftSettings: settings),
        .testTarget(name: "ArchitectureTests", swiftSettings: settings),
        // A process of its own for the tests of logs: it is killed, and works beside others.
        .executableTarget(
            name: "LogProbe", dependencies: ["Supportability"], path: "Tests/LogProbe", swiftSettings: settings),
        .testTarget(
            name: "SupportabilityTests", dependencies: ["Supportability", "LogProbe", logging],
            swiftSettings: settings),
        .testTarget(name: "ODataModelTests", dependencies: ["ODataModel", "TestCorpus"], swiftSettings: settings),
        .testTarget(name: "ODataQueryTests", dependencies: ["ODataQuery", "TestCorpus"], swiftSettings: settings),
        .testTarget(
            name: "ODataGeneratorTests",
            dependencies: [
                "ODataGenerator", "ODataService", "ODataSQL", "ODataStore", "ODataQuery", "TestCorpus", "ODataClient",
                "ODataHTTP",
                "ODataServer", "ODataTransportNIO", "OfflineOData",
            ],
            exclude: ["Documents"], swiftSettings: settings),
        .testTarget(name: "ODataFormatTests", dependencies: ["ODataFormat", "TestCorpus"], swiftSettings: settings),
        .testTarget(name: "SafeFilesTests", dependencies: ["SafeFiles"], swiftSettings: settings),
        .testTarget(name: "SecretsTests", dependencies: ["Secrets"], swiftSettings: settings),
        // A disk that fails, beneath SQLite: for the tests of everything that must survive that.
        .target(
            name: "FaultInjection", dependencies: ["CSQLite"], path: "Tests/FaultInjection", swiftSettings: settings),
        .testTarget(
            name: "EncryptedSQLiteTests",
            dependencies: ["EncryptedSQLite", "FaultInjection", "Secrets", "CSQLite", crypto],
            swiftSettings: settings),
        // A process of its own for the tests of vaults: it is killed, and works beside others.
        .executableTarget(
            name: "VaultProbe", dependencies: ["DataVault", "Secrets"], path: "Tests/VaultProbe",
            swiftSettings: settings),
        .testTarget(
            name: "DataVaultTests", dependencies: ["DataVault", "Secrets", "VaultProbe", crypto],
            swiftSettings: settings),
        .testTarget(
            name: "SecureStorageTests", dependencies: ["SecureStorage", "DataVault", "Secrets", grdb],
            swiftSettings: settings),
        .testTarget(name: "ODataSQLTests", dependencies: ["ODataSQL", "TestCorpus", grdb], swiftSettings: settings),
        .testTarget(
            name: "ODataStoreTests", dependencies: ["ODataSQL", "ODataStore", "TestCorpus", grdb],
            swiftSettings: settings),
        .testTarget(
            name: "ODataDatabasesTests", dependencies: ["ODataDatabases", "ODataSQL", "ODataStore", grdb],
            swiftSettings: settings),
        // A process of its own for the tests of persistence: it is killed, and works beside others.
        .executableTarget(
            name: "CacheProbe", dependencies: ["ODataCache", "Secrets"], path: "Tests/CacheProbe",
            swiftSettings: settings),
        .testTarget(
            name: "ODataCacheTests", dependencies: ["ODataCache", "CacheProbe", "Secrets", "DataVault", httpTypes],
            swiftSettings: settings),
        .testTarget(
            name: "ODataHTTPTests", dependencies: ["ODataHTTP", "TestCorpus", httpTypes], swiftSettings: settings),
        // What goes wrong on wires: a transport and a proxy that drop, delay, cut and double.
        .target(
            name: "WireFaults", dependencies: ["ODataHTTP", httpTypes, nioCore, nioPosix], path: "Tests/WireFaults",
            swiftSettings: settings),
        .testTarget(
            name: "ODataClientTests",
            dependencies: [
                "DataVault", "EncryptedSQLite", "ErrorCodes", "ODataCache", "ODataClient", "ODataGenerator",
                "ODataDatabases", "ODataSQL", "ODataServer", "ODataTransportConformance", "ODataTransportNIO",
                "OfflineOData", "Secrets", "SecureStorage", "Supportability", "WireFaults", httpTypes, logging,
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "ODataServerTests",
            dependencies: [
                "ODataServer", "ODataClient", "ODataTransportNIO", "ForeignPrograms", httpTypes, jwtKit, logging,
                .product(name: "MetricsTestKit", package: "swift-metrics"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "ODataTransportNIOTests",
            dependencies: [
                "ODataClient", "ODataTransportNIO", "ODataTransportConformance", "ODataServer", "ForeignPrograms",
                "WireFaults", asyncHTTPClient, crypto, httpTypes, nioCore, nioEmbedded, nioPosix, nioSSL, x509,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "ODataTransportURLSessionTests",
            dependencies: ["ODataTransportURLSession", "ODataTransportConformance", httpTypes],
            swiftSettings: settings),
        // Works on a store for as long as one likes, and measures what it takes.
        .executableTarget(
            name: "Soak", dependencies: ["OfflineOData", "ODataClient", "ODataDatabases", "ODataSQL", "Secrets", grdb],
            path: "Tests/Soak", swiftSettings: settings),
        // A process of its own for the tests of stores: it is killed, and works beside others.
        .executableTarget(
            name: "StoreProbe", dependencies: ["OfflineOData", "ODataSQL"], path: "Tests/StoreProbe",
            swiftSettings: settings),
        .testTarget(
            name: "OfflineODataTests",
            dependencies: [
                "OfflineOData", "ODataClient", "ODataDatabases", "ODataServer", "ODataSQL", "ODataStore",
                "ODataTransportNIO",
                "DataVault",
                "EncryptedSQLite", "FaultInjection", "Secrets", "Soak", "StoreProbe", "TestCorpus", grdb, httpTypes,
            ],
            exclude: ["Fixtures"], swiftSettings: settings),
        // A service and its clients in virtual time: nothing is lost, nothing doubled, whatever fails.
        .target(
            name: "Simulation",
            dependencies: [
                "OfflineOData", "ODataClient", "ODataDatabases", "EncryptedSQLite", "FaultInjection", "Secrets", grdb,
                httpTypes,
            ],
            path: "Tests/Simulation", swiftSettings: settings),
        .executableTarget(
            name: "simulate", dependencies: ["Simulation", argumentParser], path: "Tests/simulate",
            swiftSettings: settings),
        .testTarget(
            name: "SimulationTests", dependencies: ["Simulation", "ODataHTTP", httpTypes], swiftSettings: settings),
        .testTarget(
            name: "ConformanceTests",
            dependencies: [
                "reference-service", "ODataClient", "ODataHTTP", "ODataModel", "ODataQuery", "ODataServer",
                "ODataFormat", "ODataService", "ODataDatabases", "ODataSQL", "ODataStore", "ODataTransportNIO",
                "ForeignPrograms",
                "WireFaults",
                httpTypes,
            ],
            exclude: ["Clients"], swiftSettings: settings),
        .testTarget(
            name: "outpostTests",
            dependencies: [
                "outpost", "OfflineOData", "ODataDatabases", "ODataServer", "ODataSQL", "ODataStore", "ForeignPrograms",
                "Secrets", "WireFaults", grdb, httpTypes,
                jwtKit,
            ],
            swiftSettings: settings),
    ]
)
