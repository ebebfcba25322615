import Foundation
import Logging
import Supportability

func usesSupportability() async throws {
    let folder = NSTemporaryDirectory() + "consumer-\(UUID().uuidString)"
    let log = try StoredLog(folder: folder)
    try log.setHeader(.ofThisMachine(appName: "Consumer", appVersion: "1.0"))
    let pipeline = LogPipeline(threshold: .info, sinks: [log])
    let logger = Logger(label: "consumer") { pipeline.handler(label: $0) }
    logger.info("signed in with password=hunter2")
    logger.alert("the disk is full")
    print(try log.text(LogQuery(severity: .atLeast(.info))))
    try FileManager.default.removeItem(atPath: folder)
}
