plugins {
    java
    application
    kotlin("jvm") version "2.0.0"
    // id("org.springframework.boot")
}

tasks.register("deploy") {
    group = "release"
    description = "Ship it"
    doLast { println("x") }
}
tasks.register<Copy>("assets") { from("a") }
task("hello") { description("Say hello") }
val docs by tasks.registering(Copy::class) {
    description = "Make the documents"
}
/* tasks.register("commented") */
tasks.register("test") // already one of the common tasks
tasks.named("check") { dependsOn("deploy") }
