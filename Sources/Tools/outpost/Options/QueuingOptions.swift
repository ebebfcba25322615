import ArgumentParser
import OfflineOData
import ToolLanguage

/// How a change waits for a push.
struct QueuingOptions: ParsableArguments {
    @Option(help: .text("The category of the change, for 'push --only'."))
    var category: String?

    @Option(
        help: .text(
            "Changes with a higher number are sent first, unless they depend on others; 0 unless given.",
            valueName: "number"))
    var priority = 0

    @Option(help: .text("A mark of your own, which is kept with the change and not sent."))
    var tag: String?

    var changeOptions: ChangeOptions { ChangeOptions(category: category, tag: tag, priority: priority) }
}
