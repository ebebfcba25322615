import DataVault
import DocumentationPages
import Foundation
import Testing

@Suite("The tutorial of the first offline app")
struct FirstAppTests {
    private static func page() throws -> DocumentationPage {
        try DocumentationPage(at: "\(DocumentationPage.guides)/FirstOfflineApp.md")
    }

    @Test("The Swift code of the page is compiled by this test")
    func same() throws {
        // The manifest stands before the program, the main file behind it.
        let blocks = try Self.page().blocks.filter { $0.language == "swift" }.map(\.code)
        #expect(blocks.first?.hasPrefix("// swift-tools-version") == true)
        #expect(blocks.last?.contains("AddressBook.open(") == true)
        let file = Shop.root.appendingPathComponent("Tests/OfflineODataTests/FirstAppExample.swift")
        let source = try String(contentsOf: file, encoding: .utf8)
        let start = try #require(source.range(of: "import OutpostKit"))
        #expect(source[start.lowerBound...] == blocks.dropFirst().dropLast().joined(separator: "\n"))
    }

    @Test("The commands of the page print the shown output, up to a resolved conflict")
    func played() async throws {
        let shop = try await Shop()
        let keys = try FileSecretStore(directory: shop.directory.appendingPathComponent("keys").path)
        let steps = try Self.page().shellSteps
        #expect(steps.count >= 5 && steps.contains { $0.output?.contains { $0.contains("at the service") } == true })
        for step in steps {
            var printed: [String] = []
            for command in step.commands {
                if command.hasPrefix("outpost serve ") {
                    await shop.wire.mend()
                } else if command.hasPrefix("kill ") {
                    await shop.wire.cut { _, _ in .lostOnTheWay }
                } else if let words = command.wholeMatch(of: /swift run AddressBook (.+)/)?.1 {
                    let book = try await AddressBook.open(
                        in: shop.directory.appendingPathComponent("customers").path, root: Shop.serviceRoot,
                        transport: shop.wire, keys: keys)
                    printed += try await book.run(words.split(separator: " ").map(String.init))
                    try book.store.close()
                } else if let sql = command.wholeMatch(of: /sqlite3 shop\.db "(SELECT .+)"/)?.1 {
                    printed.append(try await shop.text(String(sql)) ?? "")
                } else if let sql = command.wholeMatch(of: /sqlite3 shop\.db "(UPDATE .+)"/)?.1 {
                    try await shop.sql(String(sql))
                } else {
                    #expect(command.hasPrefix("sqlite3 shop.db <"), "the test cannot play \(command)")
                }
            }
            let shown = (step.output ?? []).joined(separator: "\n")
            #expect(step.shows(printed), "the page shows\n\(shown)\nbut printed was\n\(printed)")
        }
    }
}
