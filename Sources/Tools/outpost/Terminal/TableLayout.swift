import ToolLanguage

/// The columns of a table that is written row by row: their order, widths and alignment, from the first rows.
///
/// At a terminal the table fits its width: long texts are cut, then columns from the right are left out. Numbers, dates
/// and keys are never cut. Elsewhere nothing is cut or left out.
struct TableLayout {
    /// The width for which a table is made.
    struct Room {
        /// The columns of the terminal; `nil` outside a terminal.
        var width: Int?

        init(width: Int?) { self.width = width }

        /// The room of an output.
        init(_ output: Terminal.Output) { width = Terminal.isInteractive(output) ? Terminal.width(of: output) : nil }
    }

    /// A column that is shown.
    private struct Column {
        var index: Int
        var width: Int
        var isNumeric: Bool
    }

    private let header: [String]
    private let columns: [Column]
    private let cuts: Bool
    /// The number of columns that are left out.
    var hidden: Int { header.count - columns.count }
    /// Whether so many columns are left out that rows are better shown one property a line.
    let isTooNarrow: Bool

    /// The width to which a text may be cut to make room for other columns, if columns can be left out.
    private static let leastText = 12
    /// The width to which a column may be cut if all columns must stay.
    private static let leastColumn = 8
    /// The width to which the lines outside a terminal are padded: a longer cell moves only its own line.
    private static let greatestPadding = 80

    /// Lays out columns.
    ///
    /// - Parameters:
    ///   - header: the names of the columns.
    ///   - sample: the first rows.
    ///   - keys: the indices of columns that are neither cut nor left out.
    ///   - keepsAll: whether every column is cut instead of some being left out.
    init(_ header: [String], sample: [[String]], keys: Set<Int> = [], keepsAll: Bool = false, room: Room) {
        self.header = header.map(HarmlessText.line)
        cuts = room.width != nil
        var found: [Column] = []
        var least: [Int] = []
        for index in header.indices {
            let cells = sample.lazy.compactMap { index < $0.count ? $0[index] : nil }
            let isNumeric = cells.allSatisfy { $0.isEmpty || Self.looksLikeNumber($0) }
            let isDate = cells.allSatisfy { $0.isEmpty || Self.looksLikeDate($0) }
            let widest = cells.map { HarmlessText.line($0).cells }.max() ?? 0
            let width = max(
                self.header[index].cells, room.width == nil ? min(widest, Self.greatestPadding) : widest)
            found.append(Column(index: index, width: width, isNumeric: isNumeric))
            if keepsAll {
                least.append(min(width, Self.leastColumn))
            } else {
                // A name is not cut, so that columns of similar names can be told apart.
                let isWhole = isNumeric || isDate || keys.contains(index)
                least.append(isWhole ? width : min(width, max(Self.leastText, self.header[index].cells)))
            }
        }
        let fixed = keepsAll ? Set(header.indices) : keys
        (columns, isTooNarrow) = Self.fitted(found, least: least, keys: fixed, width: room.width)
    }

    /// Whether a text is a number as a value has it, or as the tool writes it for a person.
    private static func looksLikeNumber(_ text: String) -> Bool {
        Double(text.replacing(",", with: "")) != nil
            || Language.current == .german && Double(text.replacing(".", with: "")) != nil
    }

    private static func looksLikeDate(_ text: String) -> Bool {
        let start = text.prefix(5)
        return start.count == 5 && start.last == "-" && start.dropLast().allSatisfy { $0.isASCII && $0.isNumber }
    }

    /// Cuts and leaves out columns until the rest fits.
    ///
    /// - Parameters:
    ///   - least: the least width of each column.
    ///   - keys: the columns that stay.
    private static func fitted(
        _ columns: [Column], least: [Int], keys: Set<Int>, width: Int?
    ) -> ([Column], isTooNarrow: Bool) {
        guard let width else { return (columns, false) }
        var columns = columns
        func total() -> Int { columns.reduce(0) { $0 + $1.width } + 2 * max(0, columns.count - 1) }
        // The widest column gives way first.
        while total() > width {
            let places = columns.indices.filter { columns[$0].width > least[columns[$0].index] }
            guard let widest = places.max(by: { columns[$0].width < columns[$1].width }) else { break }
            let next = places.filter { $0 != widest }.map { columns[$0].width }.max() ?? 0
            let wanted = max(least[columns[widest].index], next, columns[widest].width - (total() - width))
            columns[widest].width = min(columns[widest].width - 1, wanted)
        }
        let count = columns.count
        while total() > width, columns.count > 1, let last = columns.lastIndex(where: { !keys.contains($0.index) }) {
            columns.remove(at: last)
        }
        // A single column that is too wide is cut.
        if columns.count == 1, columns[0].width > width { columns[0].width = max(1, width) }
        let shown = columns.count { !keys.contains($0.index) }
        return (columns, columns.count < count && (shown < 2 || total() > width))
    }

    /// The line with the names.
    func head(for output: Terminal.Output) -> TerminalText { Terminal.bold(line(header), on: output) }

    /// A row as a line.
    func line(_ cells: [String]) -> String {
        var text = ""
        for (place, column) in columns.enumerated() {
            let cell = column.index < cells.count ? HarmlessText.line(cells[column.index]) : ""
            let shown = cuts ? cell.cut(toCells: column.width) : cell
            let padding = String(repeating: " ", count: max(0, column.width - shown.cells))
            let isLast = place == columns.count - 1
            text += column.isNumeric ? padding + shown : shown + (isLast ? "" : padding)
            if !isLast { text += "  " }
        }
        return text
    }
}
