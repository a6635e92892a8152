# Variance components by lme4 (REML): writes lme4.json. Run it here: Rscript lme4.R
# Debian: apt-get install r-cran-lme4. Equal runs; with a spread above zero REML is ANOVA there. In the
# last table it is not, and REML ends at zero.
suppressMessages(library(lme4))

tables <- list(
  list(passes = c(3, 3, 1, 1, 1, 0), runs = 3),
  list(passes = c(2, 2, 0, 0, 0, 2), runs = 3),
  list(passes = c(5, 5, 5, 4, 3, 5, 0, 0, 1, 5, 2, 5, 5, 4, 0), runs = 5),
  list(passes = c(2, 0, 2, 1, 2, 2, 0, 0, 1, 2, 2, 1, 2, 2, 2, 0, 2, 1), runs = 2),
  list(passes = c(10, 9, 10, 0, 3, 10, 8, 10, 10, 1, 7), runs = 10),
  list(passes = rep(0:5, c(24, 7, 6, 4, 6, 52)), runs = 5),
  list(passes = rep(0:5, c(62, 2, 1, 0, 2, 32)), runs = 5),
  list(passes = rep(0:3, c(9, 7, 8, 6)), runs = 3),
  list(passes = rep(c(2, 3, 2, 3, 1, 2, 3, 2), 3), runs = 5)
)
# Scores of 40 problems with four runs, by formula.
i <- rep(0:39, each = 4); r <- rep(0:3, 40)
scores <- ((37 * i * i + 11 * i) %% 61 + (29 * r * r + 53 * r * i + 7 * i) %% 40) / 100

fitted <- function(problem, outcome) {
  long <- data.frame(problem, outcome)
  model <- lmer(outcome ~ 1 + (1 | problem), long,
                control = lmerControl(optCtrl = list(rhoend = 1e-12)))
  v <- as.data.frame(VarCorr(model))$vcov
  sprintf('"between": %.12g, "within": %.12g, "mean": %.12g, "se": %.12g}',
          v[1], v[2], fixef(model), sqrt(as.numeric(vcov(model))))
}
of_passes <- function(t) {
  sprintf('{"passes": [%s], "runs": %d, %s', paste(t$passes, collapse = ", "), t$runs, fitted(
    rep(seq_along(t$passes), each = t$runs),
    unlist(lapply(t$passes, function(k) rep(c(1, 0), c(k, t$runs - k))))
  ))
}

version <- sprintf("%s.%s, lme4 %s", R.version$major, R.version$minor, packageVersion("lme4"))
rows <- paste(sapply(tables, of_passes), collapse = ",\n  ")
scored <- paste0('{"scores": [', paste(scores, collapse = ", "), '], "runs": 4, ', fitted(i, scores))
writeLines(sprintf('{"made_by": "R %s", "tables": [\n  %s\n], "scored": [\n  %s\n]}',
                   version, rows, scored), "lme4.json")
