// swift-tools-version: 6.2
import PackageDescription

// An app with types that are generated from odata-metadata.xml before it is built.
let package = Package(
    name: "TypedHarbour",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "outpost", path: "../..")],
    targets: [
        .executableTarget(
            name: "TypedHarbour",
            dependencies: [
                .product(name: "ODataService", package: "outpost"), .product(name: "ODataStore", package: "outpost"),
            ],
            exclude: ["odata-metadata.xml", "odata-generator.json"],
            plugins: [.plugin(name: "ODataGeneratorPlugin", package: "outpost")])
    ]
)
