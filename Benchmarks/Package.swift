// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "outpost-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "outpost", path: "..")],
    targets: [
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
                "CSimdjson",
            ]),
        // libxml2 without Outpost around it.
        .systemLibrary(name: "CBareXML", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
        .executableTarget(
            name: "ModelBenchmarks",
            dependencies: [.product(name: "ODataModel", package: "outpost"), "CBareXML"]),
        .executableTarget(
            name: "EncryptionBenchmarks",
            dependencies: [
                .product(name: "EncryptedSQLite", package: "outpost"), .product(name: "Secrets", package: "outpost"),
            ]),
    ],
    cxxLanguageStandard: .cxx17
)
