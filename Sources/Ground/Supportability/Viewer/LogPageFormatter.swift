public import Foundation

/// A formatter that writes a log as a page for a browser: a viewer with filters, in which a user selects
/// entries and saves them as a compressed file.
///
/// The page is a single file that neither loads nor sends anything. It is usable with a keyboard and a screen
/// reader.
///
/// ```swift
/// try log.export(to: "report.html", formatter: LogPageFormatter(language: .german))
/// ```
public struct LogPageFormatter: LogFormatter {
    private let texts: LogPageTexts
    private let language: LogPageLanguage
    private let plain: PlainTextLogFormatter
    private let timeZone: TimeZone

    /// Creates a formatter.
    ///
    /// - Parameters:
    ///   - language: The language of labels and hints; messages are not translated.
    ///   - timeZone: The time zone of the times.
    public init(language: LogPageLanguage = .preferred, timeZone: TimeZone = .current) {
        self.language = language
        self.timeZone = timeZone
        texts = LogPageTexts(language)
        plain = PlainTextLogFormatter(timeZone: timeZone)
    }

    /// Returns the top of the page: the nine header fields, the filters, and the head of the table.
    public func preamble(_ header: LogHeader) -> String {
        let fields = zip(texts.fields, header.fields).map { label, field in
            "<tr><th scope=\"row\">\(Self.escaped(label))</th><td>\(Self.escaped(field.value ?? "-"))</td></tr>\n"
        }
        let levels = zip(LogSeverity.allCases, texts.levels).map { level, name in
            "<option value=\"\(level.rawValue)\"\(level == .debug ? " selected" : "")>\(Self.escaped(name))</option>"
        }
        let columns = texts.columns.map { "<th scope=\"col\">\(Self.escaped($0))</th>" }
        func text(_ key: KeyPath<LogPageTexts, String>) -> String { Self.escaped(texts[keyPath: key]) }
        return """
            <!DOCTYPE html>
            <html lang="\(language.rawValue)">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="\(Self.policy)">
            <title>\(text(\.title))</title>
            <style>\(Self.style)</style>
            </head>
            <body>
            <h1>\(text(\.title))</h1>
            <table class="header">
            \(fields.joined())</table>
            <form role="search" onsubmit="return false">
            <label>\(text(\.level)) <select id="level" aria-description="\(text(\.levelHint))">\(levels.joined())</select></label>
            <label>\(text(\.search)) <input id="search" type="search" aria-description="\(text(\.searchHint))"></label>
            <label><input id="all" type="checkbox" aria-description="\(text(\.allHint))"> \(text(\.all))</label>
            <button id="save" type="button" aria-description="\(text(\.saveHint))">\(text(\.save))</button>
            <output id="count" aria-live="polite" data-label="\(text(\.shown))"></output>
            </form>
            <table class="entries">
            <thead><tr><th scope="col">\(text(\.select))</th>\(columns.joined())</tr></thead>
            <tbody>

            """
    }

    /// Returns the table row of a record.
    public func line(of record: LogRecord) -> String {
        let line = plain.line(of: record)
        let details =
            record.metadata.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            + (record.correlationID.map { ["\(LogRecord.correlationKey)=\($0)"] } ?? [])
        let place = record.location.map { "\($0.file):\($0.line)" } ?? "-"
        let cells = [
            plain.time(of: record.time), texts.levels[record.severity.rawValue], record.tag, "\(record.processID)",
            place,
            ([record.message] + details).joined(separator: "\n"),
        ]
        return "<tr data-level=\"\(record.severity.rawValue)\" data-line=\"\(Self.escaped(line))\">"
            + "<td><input type=\"checkbox\" aria-label=\"\(Self.escaped(texts.select))\"></td>"
            + cells.map { "<td>\(Self.escaped($0))</td>" }.joined() + "</tr>"
    }

    /// The end of the page.
    public var ending: String { "</tbody>\n</table>\n<script>\(Self.script)</script>\n</body>\n</html>\n" }

    // MARK: Parts of the page

    /// Returns a text escaped for use between tags or in an attribute.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            case "\n": result += "&#10;"
            default:
                // HTML does not allow other control characters, and some of them reverse the text direction.
                let category = scalar.properties.generalCategory
                if category == .control || category == .format {
                    result += "\u{FFFD}"
                } else {
                    result.unicodeScalars.append(scalar)
                }
            }
        }
        return result
    }

    /// The content security policy, which forbids loading and sending.
    private static let policy =
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

    private static let style = """
        body{font:14px system-ui,sans-serif;margin:1rem}th{text-align:start}
        table{border-collapse:collapse}td,th{padding:.2rem .5rem;vertical-align:top;border-bottom:1px solid #8884}
        .entries td:last-child{white-space:pre-wrap;overflow-wrap:anywhere}form{margin:1rem 0}label{margin-inline-end:1rem}
        tr[data-level="0"],tr[data-level="1"],tr[data-level="2"],tr[data-level="3"]{background:#f002}
        tr[data-level="4"]{background:#fa02}
        """

    private static let script = """
        const at=id=>document.getElementById(id),rows=[...document.querySelectorAll('tr[data-level]')];
        const box=row=>row.querySelector('input');
        function filter(){const level=Number(at('level').value),text=at('search').value.toLowerCase();let shown=0;
        for(const row of rows){row.hidden=Number(row.dataset.level)>level||!row.dataset.line.toLowerCase().includes(text);
        if(!row.hidden)shown++}at('count').textContent=at('count').dataset.label+' '+shown}
        at('level').onchange=filter;at('search').oninput=filter;
        at('all').onchange=()=>{for(const row of rows)if(!row.hidden)box(row).checked=at('all').checked};
        at('save').onclick=async()=>{const head=[...document.querySelectorAll('.header tr')].map(row=>
        row.cells[0].textContent+': '+row.cells[1].textContent);
        const lines=rows.filter(row=>box(row).checked).map(row=>row.dataset.line);
        let blob=new Blob([[...head,'',...lines,''].join('\\n')],{type:'text/plain'}),name='log.txt';
        if(window.CompressionStream){blob=await new Response(blob.stream().pipeThrough(
        new CompressionStream('gzip'))).blob();name+='.gz'}
        const link=document.createElement('a');link.href=URL.createObjectURL(blob);link.download=name;link.click()};
        filter();
        """
}
