import Foundation
import ODataService
import OfflineOData
import Secrets
import Testing

@Suite("The README's first example in Swift")
struct ReadmeTests {
    @Test("is the code that is compiled here, with one import, and at most 42 lines")
    func same() throws {
        let readme = try String(contentsOf: Shop.root.appendingPathComponent("README.md"), encoding: .utf8)
        let file = Shop.root.appendingPathComponent("Tests/OfflineODataTests/ReadmeExample.swift")
        let source = try String(contentsOf: file, encoding: .utf8)
        let start = try #require(source.range(of: "import OutpostKit"))
        let code = String(source[start.lowerBound...])
        #expect(readme.contains("```swift\n" + code + "```"))
        #expect(code.split(separator: "\n", omittingEmptySubsequences: false).count <= 42)
        #expect(code.components(separatedBy: "import ").count == 2)
    }

    @Test("works as described")
    func runs() async throws {
        let shop = try await Shop()
        let costly = try await shop.count("SELECT COUNT(*) FROM Orders WHERE Freight > 250")
        try #require(costly > 0)
        try await raiseFreight(
            at: Shop.serviceRoot, over: shop.wire, in: shop.directory.appendingPathComponent("readme").path,
            key: .generate())
        #expect(try await shop.count("SELECT COUNT(*) FROM Orders WHERE Freight = 300") == 1)
    }
}
