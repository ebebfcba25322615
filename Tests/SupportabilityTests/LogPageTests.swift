import Foundation
import Testing

@testable import Supportability

@Suite("The log as a web page")
struct LogPageTests {
    private let header = LogHeader(
        systemVersion: "Linux 6", appName: "Shop <1>", appVersion: "2.1", hardwareVersion: "x86_64", timeZone: "UTC",
        language: "de-DE")

    private func page(_ language: LogPageLanguage, _ records: [LogRecord]) throws -> String {
        let zone = try #require(TimeZone(identifier: "UTC"))
        let formatter = LogPageFormatter(language: language, timeZone: zone)
        return formatter.preamble(header) + records.map { formatter.line(of: $0) + "\n" }.joined() + formatter.ending
    }

    private func record(_ message: String, _ severity: LogSeverity = .error) -> LogRecord {
        LogRecord(
            time: Date(timeIntervalSince1970: 1_769_847_330.25), severity: severity, tag: "sync", message: message,
            metadata: ["status": "503"], location: nil, correlationID: "c1")
    }

    @Test("Each entry is a selectable row with the whole text")
    func rows() throws {
        let page = try page(.english, [record("refused"), record("waits", .debug)])
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("<tr data-level") }
        #expect(rows.count == 2)
        let first = try #require(rows.first)
        #expect(first.contains("data-level=\"3\""))
        #expect(
            first.contains("data-line=\"2026-01-31 08:15:30.250 ERROR sync - refused status=503 correlation-id=c1\""))
        #expect(first.contains("<input type=\"checkbox\" aria-label=\"Select entry\">"))
        for cell in ["2026-01-31 08:15:30.250", "Error", "sync", "refused&#10;status=503&#10;correlation-id=c1"] {
            #expect(first.contains("<td>\(cell)</td>"), "\(cell)")
        }
        #expect(page.contains("<th scope=\"row\">App name</th><td>Shop &lt;1&gt;</td>"))
        #expect(page.hasSuffix("</html>\n"))
    }

    @Test("A message with any content is shown as text")
    func hostile() throws {
        let message = "</td><script>alert(1)</script>\" onclick='x' & \u{202E}\u{0}"
        let page = try page(.english, [record(message)])
        #expect(page.components(separatedBy: "<script>").count == 2, "the page's own script alone")
        #expect(!page.contains("onclick='x'") && !page.contains("\u{202E}") && !page.contains("\u{0}"))
        #expect(page.contains("&lt;/td&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot; onclick=&#39;x&#39; &amp; "))
        #expect(page.contains("default-src 'none'") && !page.contains("http://") && !page.contains("https://"))
    }

    @Test("Labels, levels and hints exist in eight languages", arguments: LogPageLanguage.allCases)
    func languages(_ language: LogPageLanguage) throws {
        let texts = LogPageTexts(language)
        #expect(texts.levels.count == LogSeverity.allCases.count && Set(texts.levels).count == 8)
        #expect(texts.fields.count == 9 && Set(texts.fields).count == 9)
        #expect(texts.columns.count == 6)
        let page = try page(language, LogSeverity.allCases.map { record("m", $0) })
        #expect(page.contains("<html lang=\"\(language.rawValue)\">"))
        for hint in [
            texts.title, texts.select, texts.level, texts.levelHint, texts.search, texts.searchHint, texts.all,
            texts.allHint, texts.save, texts.saveHint, texts.shown,
        ] + texts.levels + texts.fields + texts.columns {
            #expect(!hint.isEmpty && page.contains(hint), "\(hint)")
        }
        if language != .english { #expect(texts.title != LogPageTexts(.english).title) }
    }

    @Test(
        "The first available user language is used",
        arguments: [
            (["de-AT"], LogPageLanguage.german), (["nl", "fr-CA"], .french), (["zh-TW"], .traditionalChinese),
            (["zh-Hant-HK"], .traditionalChinese), (["zh-CN", "ja"], .japanese), (["pt-BR"], .portuguese),
            (["nl"], .english), ([], .english),
        ])
    func preferred(tags: [String], expected: LogPageLanguage) {
        #expect(LogPageLanguage.preferred(among: tags) == expected)
    }
}
