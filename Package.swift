// swift-tools-version: 6.2
import PackageDescription

// Warnings are errors in CI only: a newer compiler's new warning must not stop an app from building.
let settings: [SwiftSetting] =
    Context.environment["OUTPOST_WARNINGS_AS_ERRORS"] == nil ? [] : [.treatAllWarnings(as: .error)]

let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")

let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")

// The C interface of the same SQLite library, for reading columns without making values of them.
let grdbSQLite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let grdbSQLite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")

let package = Package(
    name: "outpost",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "ODataModel", targets: ["ODataModel"]),
        .library(name: "ODataQuery", targets: ["ODataQuery"]),
        .library(name: "ODataService", targets: ["ODataService"]),
        .library(name: "ODataStore", targets: ["ODataStore"]),
        .library(name: "ODataHTTP", targets: ["ODataHTTP"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    ],
    targets: [
        // floor 0
        .target(name: "ODataModel", dependencies: ["CLibXML2"], swiftSettings: settings),
        .systemLibrary(name: "CLibXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
        // floor 1
        .target(name: "ODataQuery", dependencies: ["ODataModel"], swiftSettings: settings),
        // floor 2
        // floor 3
        .target(name: "ODataService", dependencies: ["ODataModel", "ODataQuery"], swiftSettings: settings),
        // floor 4
        .target(name: "ODataHTTP", dependencies: ["ODataService", httpTypes], swiftSettings: settings),
        .target(
            name: "ODataStore", dependencies: ["ODataService", grdb, grdbSQLite],
            swiftSettings: settings),
        // tests
        .testTarget(name: "ODataModelTests", dependencies: ["ODataModel"], swiftSettings: settings),
        .testTarget(name: "ODataQueryTests", dependencies: ["ODataQuery"], swiftSettings: settings),
        .testTarget(name: "ODataStoreTests", dependencies: ["ODataStore", grdb], swiftSettings: settings),
    ]
)
