import ArgumentParser

/// How a change waits for a push.
struct QueuingOptions: ParsableArguments {
    @Option(help: "What the change belongs to, for 'push --only'.")
    var category: String?
}
