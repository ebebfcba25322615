import Foundation
import Testing

@testable import struct outpost.TableLayout

@Suite("Tables")
struct TableTests {
    @Test(
        "A text is measured in terminal cells",
        arguments: [
            ("", 0), ("abc", 3), ("né", 2), ("e\u{301}", 1), ("日本語", 6), ("ｶﾅ", 2), ("한국", 4), ("ＡＢ", 4), ("😀", 2),
            ("👩‍👩‍👧", 2), ("🇨🇭", 2), ("❤️", 2), ("❤", 1), ("a\u{200B}b", 2), ("นี้", 1), ("Ω→", 2),
        ])
    func cells(text: String, cells: Int) { #expect(text.cells == cells) }

    @Test("A text that is too long is cut between two characters")
    func cut() {
        #expect("日本語".cut(toCells: 6) == "日本語")
        #expect("日本語".cut(toCells: 5) == "日本…")
        #expect("日本語".cut(toCells: 4) == "日…")
        #expect("abcdef".cut(toCells: 3) == "ab…")
        for width in 0...8 { #expect("a日😀e\u{301}🇨🇭z".cut(toCells: width).cells <= width) }
    }

    private static let header = ["ID", "Name", "Born", "Notes", "Remarks", "Street", "Size"]
    private static let rows = (1...20).map { number in
        [
            "\(number)", "Name of a person \(number)", "1997-06-01T00:00:00Z", String(repeating: "note ", count: 20),
            String(repeating: "日本", count: 20), "Long street of a long town \(number)", "\(number * 1000).5",
        ]
    }

    @Test(
        "At a terminal, every line fits, and keys, numbers and dates are complete",
        arguments: [20, 40, 60, 80, 100, 200])
    func fits(width: Int) {
        let layout = TableLayout(Self.header, sample: Self.rows, keys: [0], room: .init(width: width))
        for row in Self.rows {
            let line = layout.line(row)
            #expect(line.cells <= width, "\(line)")
            #expect(line.contains(row[0]))
            let isCut = line.contains("1997") && !line.contains("1997-06-01T00:00:00Z")
            #expect(!isCut, "\(line)")
        }
        if width >= 100 { #expect(layout.hidden == 0) }
        if width <= 60 { #expect(layout.hidden > 0) }
        if width == 20 { #expect(layout.isTooNarrow) }
    }

    @Test("Columns are aligned although characters have different widths")
    func aligned() {
        let layout = TableLayout(["Name", "City"], sample: [["日本", "x"], ["abc", "y"]], room: .init(width: 80))
        #expect(layout.line(["日本", "x"]) == "日本  x")
        #expect(layout.line(["abc", "y"]) == "abc   y")
    }

    @Test("In a pipe, nothing is cut, and a long value widens only its own line")
    func piped() {
        let long = String(repeating: "x", count: 5000)
        let layout = TableLayout(["A", "B"], sample: [["1", "short"], ["2", long]], room: .init(width: nil))
        #expect(layout.hidden == 0 && layout.line(["2", long]).hasSuffix(long))
        #expect(layout.line(["1", "short"]).cells < 100)
    }

    @Test("A wide table shows its keys and how to see the other columns; few rows are shown completely")
    func command() async throws {
        let site = try Site()
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await site.tool.run("clone", site.url, clone).code == 0)
        func shown(_ arguments: String...) async throws -> String {
            let terminal = try PseudoTerminal(columns: 40)
            let (process, _, _) = site.tool.process(arguments, environment: ["TERM": "xterm", "NO_COLOR": "1"])
            process.standardOutput = terminal.handle
            process.standardError = terminal.handle
            try process.run()
            var text = ""
            while process.isRunning {
                text += terminal.read()
                try await Task.sleep(for: .milliseconds(20))
            }
            process.waitUntilExit()
            return (text + terminal.read()).replacing("\r\n", with: "\n")
        }
        let table = try await shown("query", clone, "Orders")
        let lines = table.split(separator: "\n")
        #expect(lines.first?.hasPrefix("OrderID") == true, "\(table)")
        #expect(table.contains("more column") && table.contains("--lines"), "\(table)")
        for line in lines where line.first?.isNumber == true && !line.contains("more column") {
            #expect(line.cells <= 40, "\(line)")
        }
        let few = try await shown("query", clone, "Orders?$top=2")
        #expect(few.contains("OrderID: 1001\n") && few.contains("Freight: "), "\(few)")
        let lined = try await site.tool.run("query", clone, "Orders?$top=2", "--lines")
        #expect(lined.output.contains("OrderID: 1001\n") && lined.output.contains("\n\nOrderID: "), "\(lined.output)")
        let piped = try await site.tool.run("query", clone, "Orders")
        #expect(piped.output.split(separator: "\n").first?.contains("Freight") == true, "\(piped.output)")
    }

    @Test("The first rows of a large result appear before the last ones are read")
    func streams() async throws {
        let site = try Site()
        let rows = (1...5000).map { "(\($0), 'row \($0)')" }.joined(separator: ",")
        try SQLite.execute(
            "CREATE TABLE Things(ID INTEGER PRIMARY KEY, Name TEXT); INSERT INTO Things VALUES \(rows);",
            in: site.database)
        try await site.serve()
        let clone = site.path("clone")
        #expect(try await site.tool.run("clone", site.url, clone).code == 0)
        let all = try await site.tool.run("query", clone, "Things")
        #expect(all.output.split(separator: "\n").count == 5001, "\(all.errors)")
        #expect(all.output.hasSuffix("5000  row 5000\n"))
        let counted = try await site.tool.run("query", clone, "Things?$top=2500&$count=true&$orderby=ID desc")
        #expect(counted.output.split(separator: "\n").count == 2502 && counted.output.contains("5,000 in all"))
    }
}
