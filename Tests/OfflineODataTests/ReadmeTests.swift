import Foundation
import ODataService
import OfflineOData
import Secrets
import Testing

@Suite("The first examples in Swift of the README and the tour")
struct ReadmeTests {
    private static func text(_ path: String) throws -> String {
        try String(contentsOf: Shop.root.appendingPathComponent(path), encoding: .utf8)
    }

    @Test(
        "are compiled by this test with one import",
        arguments: [
            ("README.md", "ReadmeExample.swift", 12),
            ("Sources/Kit/OutpostKit/Documentation.docc/SwiftTour.md", "TourExample.swift", 37),
        ])
    func same(page: String, file: String, limit: Int) throws {
        let source = try Self.text("Tests/OfflineODataTests/\(file)")
        let start = try #require(source.range(of: "import OutpostKit"))
        let code = String(source[start.lowerBound...])
        let text = try Self.text(page)
        #expect(text.components(separatedBy: "```swift\n").dropFirst().first?.hasPrefix(code + "```") == true)
        #expect(code.split(separator: "\n").count <= limit)
        #expect(code.components(separatedBy: "import ").count == 2)
    }

    @Test("The README has at most 130 lines")
    func length() throws {
        #expect(try Self.text("README.md").split(separator: "\n", omittingEmptySubsequences: false).count <= 131)
    }

    @Test("The example of the README changes the orders at the service")
    func readme() async throws {
        let shop = try await Shop()
        let costly = try await shop.count("SELECT COUNT(*) FROM Orders WHERE Freight > 250")
        try #require(costly > 0)
        let folder = shop.directory.appendingPathComponent("readme").path
        try await raiseFreight(with: shop.client(), in: folder, key: .generate())
        #expect(try await shop.count("SELECT COUNT(*) FROM Orders WHERE Freight = 300") == costly)
    }

    @Test("The example of the tour changes one order at the service")
    func tour() async throws {
        let shop = try await Shop()
        let costly = try await shop.count("SELECT COUNT(*) FROM Orders WHERE Freight > 250")
        try #require(costly > 0)
        try await workOffline(
            at: Shop.serviceRoot, over: shop.wire, in: shop.directory.appendingPathComponent("tour").path,
            key: .generate())
        #expect(try await shop.count("SELECT COUNT(*) FROM Orders WHERE Freight = 300") == 1)
    }
}
