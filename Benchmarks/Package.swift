// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "outpost-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "outpost", path: "..", traits: ["Server"]),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.0", traits: []),
    ],
    targets: [
        // Shared helpers of the programs below: clocks, figures with their limits, the measured rows.
        .target(name: "Measuring"),
        .target(name: "SampleOrders", dependencies: [.product(name: "ODataModel", package: "outpost")]),
        // Beside it for comparison: libsimdjson-dev of Debian. Its on-demand interface is compiled into the caller,
        // so that the instruction set is chosen here and not by the library.
        .target(
            name: "CSimdjson",
            cxxSettings: [.unsafeFlags(["-O3", "-march=haswell", "-DNDEBUG"], .when(platforms: [.linux]))],
            linkerSettings: [.linkedLibrary("simdjson")]),
        .executableTarget(
            name: "json-bench",
            dependencies: [
                .product(name: "ODataModel", package: "outpost"), .product(name: "ODataFormat", package: "outpost"),
                "CSimdjson", "Measuring",
            ]),
        // libxml2 without Outpost around it.
        .systemLibrary(name: "CBareXML", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
        .executableTarget(
            name: "ModelBenchmarks",
            dependencies: [.product(name: "ODataModel", package: "outpost"), "CBareXML", "Measuring"]),
        // Beside it for comparison: SQL written by hand, through GRDB and SQLite's own interface.
        .executableTarget(
            name: "QueryBenchmarks",
            dependencies: [
                .product(name: "ODataHTTP", package: "outpost"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "ODataModel", package: "outpost"), .product(name: "ODataQuery", package: "outpost"),
                .product(name: "ODataService", package: "outpost"), .product(name: "ODataSQL", package: "outpost"),
                .product(name: "GRDB", package: "GRDB.swift"), .product(name: "GRDBSQLite", package: "GRDB.swift"),
                "Measuring", "SampleOrders",
            ]),
        // The paths that everything goes, counted by scripts/limits.py and sampled by `make bench-functions`.
        .target(
            name: "HotPaths",
            dependencies: [
                .product(name: "ODataHTTP", package: "outpost"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "ODataFormat", package: "outpost"), .product(name: "ODataModel", package: "outpost"),
                .product(name: "ODataQuery", package: "outpost"), .product(name: "ODataService", package: "outpost"),
                .product(name: "ODataSQL", package: "outpost"), .product(name: "Secrets", package: "outpost"),
                .product(name: "GRDB", package: "GRDB.swift"), .product(name: "GRDBSQLite", package: "GRDB.swift"),
                "SampleOrders",
            ],
            exclude: ["odata-metadata.xml", "odata-generator.json"],
            plugins: [.plugin(name: "ODataGeneratorPlugin", package: "outpost")]),
        .executableTarget(name: "hot-paths", dependencies: ["HotPaths"]),
        .executableTarget(
            name: "FunctionBenchmarks",
            dependencies: ["HotPaths", .product(name: "Benchmark", package: "benchmark")],
            path: "Benchmarks/FunctionBenchmarks",
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
        .executableTarget(
            name: "ClientBenchmarks",
            dependencies: [
                "Measuring", "SampleOrders",
                .product(name: "ODataClient", package: "outpost"), .product(name: "ODataModel", package: "outpost"),
                .product(name: "ODataQuery", package: "outpost"), .product(name: "ODataServer", package: "outpost"),
                .product(name: "ODataService", package: "outpost"),
                .product(name: "ODataTransportNIO", package: "outpost"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]),
        .executableTarget(
            name: "ServerBenchmarks",
            dependencies: [
                "Measuring",
                .product(name: "ODataHTTP", package: "outpost"), .product(name: "ODataServer", package: "outpost"),
                .product(name: "ODataDatabases", package: "outpost"), .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Hummingbird", package: "hummingbird"), .product(name: "NIOCore", package: "swift-nio"),
            ]),
        .executableTarget(
            name: "TypedBenchmarks",
            dependencies: [
                "Measuring",
                .product(name: "ODataService", package: "outpost"), .product(name: "ODataStore", package: "outpost"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            exclude: ["odata-metadata.xml", "odata-generator.json"],
            plugins: [.plugin(name: "ODataGeneratorPlugin", package: "outpost")]),
        .executableTarget(
            name: "SyncBenchmarks",
            dependencies: [
                "Measuring", "SampleOrders",
                .product(name: "ODataClient", package: "outpost"), .product(name: "ODataHTTP", package: "outpost"),
                .product(name: "ODataModel", package: "outpost"), .product(name: "ODataQuery", package: "outpost"),
                .product(name: "ODataService", package: "outpost"),
                .product(name: "ODataDatabases", package: "outpost"),
                .product(name: "ODataServer", package: "outpost"),
                .product(name: "ODataTransportNIO", package: "outpost"),
                .product(name: "OfflineOData", package: "outpost"), .product(name: "Secrets", package: "outpost"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]),
        .executableTarget(
            name: "EncryptionBenchmarks",
            dependencies: [
                .product(name: "EncryptedSQLite", package: "outpost"), .product(name: "Secrets", package: "outpost"),
                "Measuring",
            ]),
    ],
    cxxLanguageStandard: .cxx17
)
