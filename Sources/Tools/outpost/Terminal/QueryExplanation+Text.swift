import ODataSQL
import ToolLanguage

extension QueryExplanation {
    /// Tree, SQL and plan, each on one line for any values.
    var text: TerminalText {
        var lines: [TerminalText] = ["TREE"]
        lines += tree.map { "  \($0)" }
        for statement in statements {
            lines += ["", "SQL (\(statement.purpose))", "  \(statement.sql)"]
            if !statement.arguments.isEmpty { lines.append("  VALUES \(statement.arguments.joined(separator: ", "))") }
            lines.append("PLAN")
            lines += statement.plan.map { "  \($0)" }
        }
        return lines.joined(separator: "\n")
    }
}
