// swift-tools-version: 6.2
import PackageDescription

// The smallest app. It must neither resolve nor link packages that only server, tools and the NIO transport need.
let package = Package(
    name: "App",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "outpost", path: "../..")],
    targets: [
        .executableTarget(
            name: "App",
            dependencies: [
                .product(name: "ODataSQL", package: "outpost"), .product(name: "OfflineOData", package: "outpost"),
            ])
    ]
)
