// swift-tools-version: 6.2
import PackageDescription

// An app with business objects, which are generated from odata-metadata.xml before it is built.
let package = Package(
    name: "Crm",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "outpost", path: "../..")],
    targets: [
        .executableTarget(
            name: "crm",
            dependencies: [
                .product(name: "ObjectAPI", package: "outpost"), .product(name: "ODataClient", package: "outpost"),
                .product(name: "ODataTransportURLSession", package: "outpost"),
            ],
            exclude: ["odata-metadata.xml", "odata-generator.json"],
            plugins: [.plugin(name: "ODataGeneratorPlugin", package: "outpost")])
    ]
)
