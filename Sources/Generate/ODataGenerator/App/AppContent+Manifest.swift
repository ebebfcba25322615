extension AppContent {
    /// `Package.swift`.
    var manifest: String {
        """
        // swift-tools-version: 6.2
        \(Self.imports("PackageDescription"))

        /// A library of Outpost.
        func outpost(_ product: String) -> Target.Dependency { .product(name: product, package: "outpost") }

        let package = Package(
            name: "\(names.package)",
            platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
            products: [
                .library(name: "\(names.library)", targets: ["\(names.library)"]),
                .executable(name: "\(names.package)", targets: ["\(names.package)"]),
            ],
            dependencies: [
                \(dependency)
            ],
            targets: [
                // The offline store and the types of the service.
                .target(
                    name: "\(names.library)",
                    dependencies: [
                        outpost("OutpostKit"), outpost("ODataModel"), outpost("ODataQuery"), outpost("ODataService"),
                    ]),
                // The program.
                .executableTarget(name: "\(names.package)", dependencies: ["\(names.library)", outpost("OutpostKit")]),
                .testTarget(
                    name: "\(names.library)Tests",
                    dependencies: ["\(names.library)", outpost("OutpostKit"), outpost("ODataStore")]),
            ]
        )

        """
    }

    private var dependency: String {
        switch options.dependency {
        case .path(let path): ".package(name: \"outpost\", path: \(Translator.literal(path)))"
        case .repository(let url, let version):
            ".package(url: \(Translator.literal(url)), from: \(Translator.literal(version)))"
        }
    }
}
